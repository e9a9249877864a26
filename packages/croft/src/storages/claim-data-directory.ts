import { closeSync, constants, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { hostname, constants as system } from 'node:os';
import { join } from 'node:path';
import { addon } from '../disk/paths/native-addon.ts';

/** The process that serves a data directory, as the file `server` in that directory says. */
export interface DataOwner {
  readonly pid: number;
  readonly host: string;
  readonly since: string;
  /** Missing while the server does not listen yet. */
  readonly address?: string | undefined;
}

export type DataClaim =
  | ({ readonly kind: 'ours'; tellAddress(address: string): void } & Disposable)
  /** `owner` is missing if the file `server` cannot be read or parsed. */
  | { readonly kind: 'taken'; readonly owner: DataOwner | undefined }
  /** The file system has no locks, or the native addon could not be compiled for this machine. */
  | { readonly kind: 'unlockable' };

const fileName = 'server';

/**
 * Claims a data directory for one server with a lock that the kernel releases when this process ends, for whatever
 * reason. A second server learns who holds the directory and changes nothing.
 */
export function claimDataDirectory(data: string, now: Date): DataClaim {
  if (!addon) return { kind: 'unlockable' };
  const directoryFd = openSync(data, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const handle = addon.lock(directoryFd, fileName);
    if (handle === -system.errno.EALREADY) return { kind: 'taken', owner: readOwner(data) };
    return handle < 0 ? { kind: 'unlockable' } : toClaim(data, handle, now);
  } finally {
    closeSync(directoryFd);
  }
}

function toClaim(data: string, handle: number, now: Date): DataClaim {
  const owner: DataOwner = { pid: process.pid, host: hostname(), since: now.toISOString() };
  writeOwner(handle, owner);
  return {
    kind: 'ours',
    tellAddress: (address) => writeOwner(handle, { ...owner, address }),
    [Symbol.dispose]() {
      // The file is removed while it is locked: a process that opened it earlier finds it gone and creates a new one.
      rmSync(join(data, fileName), { force: true });
      closeSync(handle);
    },
  };
}

function writeOwner(handle: number, owner: DataOwner): void {
  ftruncateSync(handle);
  writeSync(handle, `${JSON.stringify(owner)}\n`, 0);
}

/** The server of a data directory. `undefined` also when its file is read between being truncated and being written. */
export function readOwner(data: string): DataOwner | undefined {
  try {
    const found: unknown = JSON.parse(readFileSync(join(data, fileName), 'utf8'));
    return isOwner(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

function isOwner(found: unknown): found is DataOwner {
  if (typeof found !== 'object' || found === null) return false;
  const { pid, host, since, address = '' } = found as Record<string, unknown>;
  return typeof pid === 'number' && [host, since, address].every((text) => typeof text === 'string');
}
