import { randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, unlinkSync } from 'node:fs';
import { temporaryPrefix } from '../core/temporary.ts';
import { at, statOf } from './handles.ts';

/** Longer than any write takes: what is older was left by a process that was killed. */
const abandonedAfterMs = 60_000;
const maxDirectories = 10_000;

export function newTemporaryName(): string {
  return `${temporaryPrefix}${randomBytes(9).toString('base64url')}`;
}

/** Clears what killed writers left, once for each directory that is written to. */
export function createSweeper() {
  const swept = new Set<string>();

  return (directory: number): void => {
    const { dev, ino } = statOf(directory);
    const key = `${dev}:${ino}`;
    if (swept.has(key) || swept.size >= maxDirectories) return;
    swept.add(key);
    for (const name of readdirSync(`/proc/self/fd/${directory}`))
      if (name.startsWith(temporaryPrefix)) sweep(directory, name);
  };
}

function sweep(directory: number, name: string): void {
  const path = at(directory, name);
  try {
    if (Date.now() - lstatSync(path).mtimeMs > abandonedAfterMs) unlinkSync(path);
  } catch {
    // Its writer finished meanwhile, or it is not ours to remove.
  }
}
