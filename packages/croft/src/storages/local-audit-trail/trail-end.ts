import { closeSync, fstatSync, openSync } from 'node:fs';
import { type ChainLink, chainStart } from '../../core/accounts/ports/audit-chain.ts';
import { listSegments, readTail, readTailOf, segmentPath } from './trail-segments.ts';

/** The action of a file's last row if the trail continues in the next file. */
export const continuedAction = 'audit.continued';

/** The file that rows are appended to, and its state. */
export interface TrailEnd {
  readonly number: number;
  readonly handle: number;
  readonly size: number;
  readonly end: ChainLink;
  /** Bytes that an interrupted write left after the last complete line. */
  readonly torn: Buffer;
}

/**
 * Finds where the trail ends now: other processes may have appended rows or started a new file. The caller must hold
 * the lock.
 */
export function findTrailEnd(directory: string, known: TrailEnd | undefined): TrailEnd {
  if (known && fstatSync(known.handle).size === known.size) return known;
  let found = known ? readEnd(known, known.size) : openFile(directory, listSegments(directory).at(-1) ?? 1);
  while (found.isContinued) {
    closeSync(found.handle);
    found = openFile(directory, found.number + 1);
  }
  return found;
}

/** Starts the next file of the trail. */
export function openNextFile(directory: string, { number, handle, end }: TrailEnd): TrailEnd {
  closeSync(handle);
  return { ...openFile(directory, number + 1), end };
}

type TrailEndWithMark = TrailEnd & { readonly isContinued: boolean };

function openFile(directory: string, number: number): TrailEndWithMark {
  const handle = openSync(segmentPath(directory, number), 'a+', 0o600);
  const isNew = fstatSync(handle).size === 0;
  return readEnd({ number, handle, end: isNew ? endBefore(directory, number) : chainStart }, 0);
}

function readEnd(
  { number, handle, end: before }: Pick<TrailEnd, 'number' | 'handle' | 'end'>,
  from: number,
): TrailEndWithMark {
  const { size, row, torn } = readTail(handle, from);
  const end = row ? { rows: row.sequence, hash: row.hash } : before;
  return { number, handle, size, end, torn, isContinued: row?.action === continuedAction };
}

/** The end of the chain before a file that has no row yet. */
function endBefore(directory: string, number: number): ChainLink {
  const before = listSegments(directory).filter((other) => other < number);
  const rows = before.map((other) => readTailOf(segmentPath(directory, other)).row);
  const last = rows.findLast((row) => row !== undefined);
  return last ? { rows: last.sequence, hash: last.hash } : chainStart;
}
