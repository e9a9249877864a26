import { randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, unlinkSync } from 'node:fs';
import { temporaryPrefix } from '../../core/files/temporary-prefix.ts';
import { at, statOf } from '../paths/handles.ts';

/** Longer than any write takes: an older file was left by a killed process. */
const abandonedAfterMs = 60_000;
const maxDirectories = 10_000;

const nameBytes = 9;
let randomness = Buffer.alloc(0);

/** A random name, so that nobody can create the file first. */
export function newTemporaryName(): string {
  // Fetching many random bytes costs as much as fetching a few.
  if (randomness.length === 0) randomness = randomBytes(nameBytes * 100);
  const name = randomness.toString('base64url', 0, nameBytes);
  randomness = randomness.subarray(nameBytes);
  return `${temporaryPrefix}${name}`;
}

export type Sweep = ReturnType<typeof createSweeper>;

/** Removes temporary files that killed writers left, once for each directory that is written to. */
export function createSweeper() {
  const swept = new Set<string>();

  return (directoryFd: number): void => {
    const { dev, ino } = statOf(directoryFd);
    const key = `${dev}:${ino}`;
    if (swept.has(key) || swept.size >= maxDirectories) return;
    const left = readdirSync(`/proc/self/fd/${directoryFd}`).filter((name) => name.startsWith(temporaryPrefix));
    // A file that is too new to judge is checked again at the next write.
    if (left.map((name) => sweep(directoryFd, name)).every((isGone) => isGone)) swept.add(key);
  };
}

/** Removes an abandoned file. Returns whether it is gone. */
function sweep(directoryFd: number, name: string): boolean {
  const path = at(directoryFd, name);
  try {
    if (Date.now() - lstatSync(path).mtimeMs <= abandonedAfterMs) return false;
    unlinkSync(path);
  } catch {
    // Its writer has finished, or this user may not remove it.
  }
  return true;
}
