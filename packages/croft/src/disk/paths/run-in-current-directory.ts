import { openSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { directoryPathFlags } from './handles.ts';

/** Handle of the directory in which the program was started. Only the main thread can change the current directory. */
const home = isMainThread ? openHome() : undefined;

/** `undefined` if this user may not open the current directory: then the process could not return to it. */
function openHome(): number | undefined {
  try {
    return openSync('.', directoryPathFlags);
  } catch {
    return undefined;
  }
}

/**
 * Runs `work` with an open directory as the current directory, if possible, so that bare names resolve in it. Resolving
 * the handle through `/proc` for each name takes longer than most calls. The whole process is in that directory
 * meanwhile, so `work` must be synchronous.
 */
export function runInCurrentDirectory<T>(directoryFd: number, work: (isInside: boolean) => T): T {
  if (home === undefined) return work(false);
  process.chdir(`/proc/self/fd/${directoryFd}`);
  try {
    return work(true);
  } finally {
    process.chdir(`/proc/self/fd/${home}`);
  }
}
