import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { removeTree } from '../../lib/files/remove-tree.ts';
import { isPinned } from './layer-pins.ts';

/** Deletes steps that no fork uses. A step is made again when it is needed, at the cost of what changed. */
export async function dropSteps(paths: readonly string[], isUsed: (path: string) => boolean): Promise<void> {
  for (const path of paths) if (isFree(path) && !isUsed(path)) await removeLayerOf(path);
}

/**
 * Whether no process may still use the layer: another server may continue from a step that it made and has no fork of.
 */
export function isFree(path: string): boolean {
  const [, maker] = /^step-(\d+)-/.exec(basename(dirname(path))) ?? [];
  const isOthers = maker !== undefined && Number(maker) !== process.pid && isAlive(maker);
  return !isOthers && !isPinned(path);
}

/** Whether the directory is an unfinished layer of a server that has ended. */
export function isLeftOver(name: string): boolean {
  const [, maker] = /^making-(\d+)-/.exec(name) ?? [];
  return maker !== undefined && !isAlive(maker);
}

export async function removeLayerOf(tree: string): Promise<void> {
  await removeTree(dirname(tree));
}

export function newLayerName(kind: 'base' | `step-${number}`): string {
  return `${kind}-${randomBytes(8).toString('hex')}`;
}

export function newStepName(): string {
  return newLayerName(`step-${process.pid}`);
}

/**
 * Fills a directory under a temporary name and renames it when it is complete. Unfinished ones are swept later. Returns
 * whether `fill` made anything to keep.
 */
export async function makeWhole(
  parent: string,
  name: string,
  fill: (making: string) => Promise<boolean>,
): Promise<boolean> {
  const making = join(parent, `making-${process.pid}-${name}`);
  mkdirSync(join(making, 'tree'), { recursive: true, mode: 0o711 });
  let isMade = false;
  try {
    isMade = await fill(making);
    if (isMade) renameSync(making, join(parent, name));
    return isMade;
  } finally {
    if (!isMade) await removeTree(making);
  }
}

function isAlive(pid: string): boolean {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false }) !== undefined;
}
