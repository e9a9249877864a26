import { randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, unlinkSync } from 'node:fs';
import { temporaryPrefix } from '../core/temporary.ts';
import { at, statOf } from './handles.ts';

/** Longer than any write takes: what is older was left by a process that was killed. */
const abandonedAfterMs = 60_000;
const maxDirectories = 10_000;

const nameBytes = 9;
let randomness = Buffer.alloc(0);

/** Nobody can guess it and be there first. */
export function newTemporaryName(): string {
  // Many at once cost as much as one.
  if (randomness.length === 0) randomness = randomBytes(nameBytes * 100);
  const name = randomness.toString('base64url', 0, nameBytes);
  randomness = randomness.subarray(nameBytes);
  return `${temporaryPrefix}${name}`;
}

export type Sweep = ReturnType<typeof createSweeper>;

/** Clears what killed writers left, once for each directory that is written to. */
export function createSweeper() {
  const swept = new Set<string>();

  return (directory: number): void => {
    const { dev, ino } = statOf(directory);
    const key = `${dev}:${ino}`;
    if (swept.has(key) || swept.size >= maxDirectories) return;
    const left = readdirSync(`/proc/self/fd/${directory}`).filter((name) => name.startsWith(temporaryPrefix));
    // One that is too new to judge is looked at again by the next write.
    if (left.map((name) => sweep(directory, name)).every((isGone) => isGone)) swept.add(key);
  };
}

/** Whether it is gone. */
function sweep(directory: number, name: string): boolean {
  const path = at(directory, name);
  try {
    if (Date.now() - lstatSync(path).mtimeMs <= abandonedAfterMs) return false;
    unlinkSync(path);
  } catch {
    // Its writer finished meanwhile, or it is not ours to remove.
  }
  return true;
}
