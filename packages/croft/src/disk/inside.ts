import { openSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { placeFlags } from './handles.ts';

/** Where the program was started. A thread other than the main one cannot change its directory. */
const home = isMainThread ? openHome() : undefined;

/** Whoever started it there may be let in where we are not, and then nobody could come back. */
function openHome(): number | undefined {
  try {
    return openSync('.', placeFlags);
  } catch {
    return undefined;
  }
}

/**
 * Runs `work` with bare names meant in an open directory, if that can be: to find the handle again by `/proc` takes the
 * kernel longer than most of what is asked. The whole program is there meanwhile, so `work` must not wait for anything.
 */
export function inside<T>(directory: number, work: (isInside: boolean) => T): T {
  if (home === undefined) return work(false);
  process.chdir(`/proc/self/fd/${directory}`);
  try {
    return work(true);
  } finally {
    process.chdir(`/proc/self/fd/${home}`);
  }
}
