import { type FileHandle, open } from 'node:fs/promises';
import type { AuditRow } from '../../core/accounts/ports/call-tables.ts';
import { parseRow, segmentPath } from './trail-segments.ts';

interface SegmentPosition {
  readonly directory: string;
  readonly segment: number;
}

const blockBytes = 64 * 1024;
const newline = 0x0a;

/** Reads rows from the beginning of a line on. */
export async function readRows(
  { directory, segment }: SegmentPosition,
  from: number,
  limit: number,
): Promise<RowEnd[]> {
  const rows: RowEnd[] = [];
  await using file = await openSegment(directory, segment);
  let [offset, rest] = [from, Buffer.alloc(0)];
  while (file && rows.length < limit) {
    const block = await readBlock(file.handle, offset + rest.length, blockBytes);
    if (block.length === 0) break;
    const bytes = Buffer.concat([rest, block]);
    const lines = splitLines(bytes, 0, bytes.lastIndexOf(newline) + 1);
    for (const { row, end } of toRows(bytes, lines)) rows.push({ row, end: offset + end });
    const passed = lines.at(-1)?.end ?? 0;
    [offset, rest] = [offset + passed, bytes.subarray(passed)];
  }
  return rows.slice(0, limit);
}

/** Reads rows that end before an offset, newest first. */
export async function readRowsBefore(
  { directory, segment }: SegmentPosition,
  to: number,
  limit: number,
): Promise<RowStart[]> {
  const rows: RowStart[] = [];
  await using file = await openSegment(directory, segment);
  let [start, rest] = [to, Buffer.alloc(0)];
  while (file && start > 0 && rows.length < limit) {
    const from = Math.max(0, start - blockBytes);
    const bytes = Buffer.concat([await readBlock(file.handle, from, start - from), rest]);
    // Without the beginning of the file, the first line is not complete.
    const first = from === 0 ? 0 : bytes.indexOf(newline) + 1 || bytes.length;
    const found = toRows(bytes, splitLines(bytes, first, bytes.lastIndexOf(newline) + 1)).toReversed();
    rows.push(...found.map(({ row, begin }) => ({ row, start: from + begin })));
    [start, rest] = [from, bytes.subarray(0, first)];
  }
  return rows.slice(0, limit);
}

/** `undefined` for a segment that was dropped meanwhile. */
async function openSegment(directory: string, segment: number) {
  const handle = await open(segmentPath(directory, segment), 'r').catch(() => undefined);
  return handle && { handle, [Symbol.asyncDispose]: () => handle.close() };
}

/** A line of a block, with its line break. */
interface Line {
  readonly begin: number;
  readonly end: number;
}

interface RowEnd {
  readonly row: AuditRow;
  /** The offset after its line. */
  readonly end: number;
}

interface RowStart {
  readonly row: AuditRow;
  readonly start: number;
}

function splitLines(bytes: Buffer, from: number, to: number): Line[] {
  const lines: Line[] = [];
  for (let begin = from; begin < to; ) {
    const end = bytes.indexOf(newline, begin) + 1;
    lines.push({ begin, end });
    begin = end;
  }
  return lines;
}

function toRows(bytes: Buffer, lines: readonly Line[]) {
  return lines.flatMap(({ begin, end }) => {
    const row = parseRow(bytes.toString('latin1', begin, end - 1));
    return row ? [{ row, begin, end }] : [];
  });
}

async function readBlock(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
