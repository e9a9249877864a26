import { closeSync, lstatSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { TreePath } from '../core/history/tree.ts';
import { at, openDirectory, openRoot } from '../disk/handles.ts';
import { bytesFromPath } from '../lib/path-bytes.ts';
import { copyEntry, keepTraits } from './copy-tree.ts';
import { statAt } from './layer-entries.ts';

/**
 * Makes a directory of ours what another is, at these paths and below them. Both sides are walked by handles: links of the
 * tree may stand anywhere in it, on either side, and are never followed.
 */
export async function bringUp(target: string, live: number, paths: Iterable<TreePath>): Promise<void> {
  const root = openRoot(target);
  try {
    for (const path of [...paths].sort()) await bringOne(live, root, path.split('/').map(bytesFromPath));
  } finally {
    closeSync(root);
  }
}

async function bringOne(live: number, target: number, [name, ...rest]: readonly Buffer[]): Promise<void> {
  if (name === undefined || name.length === 0) return;
  const [here, there] = [statAt(live, name), statAt(target, name)];
  const areDirectories = here?.isDirectory() && there?.isDirectory();
  if (areDirectories && rest.length > 0) return descend(live, target, { name, rest });
  if (areDirectories) return keepTraits(at(target, name), lstatSync(at(live, name)));
  if (there) await rm(at(target, name), { recursive: true, force: true });
  if (here) await copyEntry(live, name, at(target, name) as Buffer);
}

async function descend(live: number, target: number, { name, rest }: { name: Buffer; rest: readonly Buffer[] }) {
  const inner = openDirectory(live, name);
  try {
    const below = openDirectory(target, name);
    await bringOne(inner, below, rest).finally(() => closeSync(below));
  } finally {
    closeSync(inner);
  }
}
