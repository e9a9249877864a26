import { AppError } from '@croft/protocol';
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
/** Enough for many thousand rows of records and audit trail. */
const mostReserveBytes = 16 * megabyte;

/**
 * Keeps accounts from filling the disk of the data directory. Growth is refused early, so records, the audit trail and
 * deletions still work. A command can fill the disk faster than the check notices: a reserve file covers that case.
 */
export function openFreeDiskGuard({ data, minFreeBytes, onWarning }: FreeDiskGuardOptions): DiskCapacity & Disposable {
  const free = createFreeSpaceReader(data);
  const left = () => free() - minFreeBytes;
  const bytes = Math.min(mostReserveBytes, Math.floor(minFreeBytes / 4));
  const onReleased = () =>
    onWarning(`the disk of the data directory is full: released the reserve of ${toMegabytes(bytes)} MB`);
  const reserve = bytes > 0 ? keepDiskReserve({ directory: data, bytes, minFreeBytes, onReleased }) : undefined;
  return {
    left,
    isShort: () => left() < 0,
    mustHave(more) {
      if (more > left()) throw full(free(), minFreeBytes);
    },
    [Symbol.dispose]: () => reserve?.[Symbol.dispose](),
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
