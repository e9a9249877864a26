import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { removeTree } from '../lib/remove-tree.ts';
import { isHeld } from './layer-holds.ts';

/** What no fork shows any more. Steps are made again when they are needed, at the price of what changed. */
export async function dropSteps(paths: readonly string[], isUsed: (path: string) => boolean): Promise<void> {
  for (const path of paths) if (isFree(path) && !isUsed(path)) await removeLayerOf(path);
}

/** Nobody is about to make something of it: another server may go on from a step that it made and has no fork of. */
export function isFree(path: string): boolean {
  const [, maker] = /^step-(\d+)-/.exec(basename(dirname(path))) ?? [];
  const isOthers = maker !== undefined && Number(maker) !== process.pid && isAlive(maker);
  return !isOthers && !isHeld(path);
}

/** Of a server that did not come to the end of it. */
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

/** One that was not finished has another name, and is swept. Answers whether there was something to keep. */
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
