import { closeSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { constants as system } from 'node:os';

export type SettlingArguments = readonly [
  handle: number,
  fromDirectory: number,
  fromName: string,
  toDirectory: number,
  toName: string,
  /** Whether the order is kept; whether no sync is wanted. */
  how: boolean,
  ...before: readonly [] | readonly [ino: number, size: number, mtimeMs: number],
];

/** What `native/files` gives, because Node has no call for it. */
export interface Addon {
  /** See `settle.ts`. Answers zero, or the errno of what failed. */
  settle(...settling: SettlingArguments): Promise<number>;
  /** The same without a sync; `EAGAIN`, and nothing is done, if that is not wanted and there is a disk. */
  settleNow(...settling: SettlingArguments): number;
  /**
   * A handle to what is at a path below an open directory, or the errno of what failed, negated: `ELOOP` for a link on
   * the way, of which none is followed. `O_PATH` with `O_NOFOLLOW` holds a link at the end itself.
   */
  open(directory: number, path: string, flags: number, mode: number): number;
  /** Opens the very file that a handle names: a handle, or the errno negated. */
  reopen(place: number, flags: number): number;
}

/** Compiled by set-up. Left out: it was not, or not for this machine. */
export const addon = load();

function load(): Addon | undefined {
  try {
    const loaded: Addon = createRequire(import.meta.url)('../../native/build/croft-files.node');
    return knowsOpen(loaded) ? loaded : undefined;
  } catch {
    return undefined;
  }
}

/** Kernels before 5.6 do not, and some containers forbid what they have not heard of. */
function knowsOpen({ open }: Addon): boolean {
  const currentDirectory = -100;
  const answer = open(currentDirectory, '.', constants.O_DIRECTORY, 0);
  if (answer >= 0) closeSync(answer);
  return answer !== -system.errno.ENOSYS && answer !== -system.errno.EPERM;
}
