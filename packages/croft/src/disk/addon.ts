import { createRequire } from 'node:module';

/** What `native/files` gives: answers zero, or the errno of what failed. */
export interface Addon {
  settle(
    handle: number,
    fromDirectory: number,
    fromName: string,
    toDirectory: number,
    toName: string,
    isOrdered: boolean,
    ...before: readonly [] | readonly [ino: number, size: number, mtimeMs: number]
  ): Promise<number>;
}

/** Compiled by set-up. Left out: it was not, or not for this machine. */
export const addon = load();

function load(): Addon | undefined {
  try {
    return createRequire(import.meta.url)('../../native/build/croft-files.node');
  } catch {
    return undefined;
  }
}
