import { closeSync, lstatSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { TreePath } from '../../core/history/ports/tree.ts';
import { at, openDirectory, openRoot } from '../../disk/paths/handles.ts';
import { bytesFromPath } from '../../lib/files/path-bytes.ts';
import { copyEntry, copyTraits } from './copy-tree.ts';
import { statEntry } from './directory-entries.ts';

/**
 * Makes the target directory equal to the workspace at these paths and below them. Both sides are walked by
 * descriptors: either may contain links anywhere, and no link is followed.
 */
export async function copyPaths(target: string, workspaceFd: number, paths: Iterable<TreePath>): Promise<void> {
  const targetFd = openRoot(target);
  try {
    for (const path of [...paths].sort()) await copyOne(workspaceFd, targetFd, path.split('/').map(bytesFromPath));
  } finally {
    closeSync(targetFd);
  }
}

async function copyOne(workspaceFd: number, targetFd: number, [name, ...rest]: readonly Buffer[]): Promise<void> {
  if (name === undefined || name.length === 0) return;
  const [source, existing] = [statEntry(workspaceFd, name), statEntry(targetFd, name)];
  const areDirectories = source?.isDirectory() && existing?.isDirectory();
  if (areDirectories && rest.length > 0) return descend(workspaceFd, targetFd, { name, rest });
  if (areDirectories) return copyTraits(at(targetFd, name), lstatSync(at(workspaceFd, name)));
  if (existing) await rm(at(targetFd, name), { recursive: true, force: true });
  if (source) await copyEntry(workspaceFd, name, at(targetFd, name) as Buffer);
}

async function descend(
  workspaceFd: number,
  targetFd: number,
  { name, rest }: { name: Buffer; rest: readonly Buffer[] },
) {
  const inner = openDirectory(workspaceFd, name);
  try {
    const below = openDirectory(targetFd, name);
    await copyOne(inner, below, rest).finally(() => closeSync(below));
  } finally {
    closeSync(inner);
  }
}
