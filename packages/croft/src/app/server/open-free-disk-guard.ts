import { AppError } from '@croft/protocol';
import { type CommandPacing, createCommandPacing } from '../../core/quota/command-pacing.ts';
import type { DiskCapacity } from '../../core/quota/quota-guard.ts';
import { keepDiskReserve } from '../../lib/disk-space/disk-reserve.ts';
import { createFreeSpaceReader } from '../../lib/disk-space/free-space.ts';

interface FreeDiskGuardOptions {
  readonly data: string;
  /** With less free space than this, files of accounts may not grow. */
  readonly minFreeBytes: number;
  /** Writes a line to the server's log. */
  onWarning(message: string): void;
}

const megabyte = 1024 * 1024;
/** For the directories of sandboxes and other small files that a call needs. */
const mostReserveBytes = 16 * megabyte;
/** Enough for some thousand rows of records and audit trail. */
const mostReservedBytes = 4 * megabyte;

/** Returns the disk space that the records own in advance, which no command can take. */
export function toRecordsReserve(minFreeBytes: number): number {
  return Math.min(mostReservedBytes, Math.floor(minFreeBytes / 16));
}

interface FreeDiskGuard extends Disposable {
  /** Returns the capacity of the disk as one account may use it. */
  of(accountId: string): DiskCapacity;
}

/**
 * Keeps accounts from filling the disk of the data directory. Growth is refused early, so records, the audit trail and
 * deletions still work. A command can fill the disk faster than the check notices: the records have blocks of their own
 * then, and a reserve file covers the rest.
 */
export function openFreeDiskGuard({ data, minFreeBytes, onWarning }: FreeDiskGuardOptions): FreeDiskGuard {
  const free = createFreeSpaceReader(data);
  const left = () => free() - minFreeBytes;
  const bytes = Math.min(mostReserveBytes, Math.floor(minFreeBytes / 4));
  const onReleased = () =>
    onWarning(`the disk of the data directory is full: released the reserve of ${toMegabytes(bytes)} MB`);
  const reserve = bytes > 0 ? keepDiskReserve({ directory: data, bytes, minFreeBytes, onReleased }) : undefined;
  const isShort = () => left() < 0;
  const mustHave = (more: number) => {
    if (more > left()) throw full(free(), minFreeBytes);
  };
  const pacingOf = createPacings(isShort);
  return {
    of: (accountId) => ({ left, isShort, mustHave, pacing: pacingOf(accountId) }),
    [Symbol.dispose]: () => reserve?.[Symbol.dispose](),
  };
}

/** Returns the pacing of an account, always the same for all its workspaces. */
function createPacings(isShort: () => boolean): (accountId: string) => CommandPacing {
  const pacings = new Map<string, CommandPacing>();
  return (accountId) => {
    const pacing = pacings.get(accountId) ?? createCommandPacing(isShort);
    pacings.set(accountId, pacing);
    return pacing;
  };
}

function full(free: number, minFree: number): AppError {
  const message =
    `the disk of this server has ${toMegabytes(free)} MB free, and the last ${toMegabytes(minFree)} MB are kept for its ` +
    'records: files cannot grow until space is freed';
  const hint =
    'Delete what is not needed: delete, rm in a command, and changes that make files smaller work. Or tell the operator.';
  return new AppError('E_STORAGE_FULL', message, {
    details: { limit: 'disk', freeBytes: free, minFreeBytes: minFree },
    hint,
  });
}

function toMegabytes(bytes: number): number {
  return Math.floor(bytes / megabyte);
}
