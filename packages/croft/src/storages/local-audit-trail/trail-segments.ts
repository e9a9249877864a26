import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { AuditRow } from '../../core/accounts/ports/call-tables.ts';

/*
 * A local audit trail is a directory of files that form one chain: `00000001.jsonl`, then `00000002.jsonl`, one row per
 * line. New rows are appended to the last file. The oldest files are removed when the trail exceeds its size limit.
 */

const Row = z.object({
  sequence: z.int().positive(),
  previous: z.string(),
  accountId: z.string(),
  at: z.string(),
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  details: z.string(),
  hash: z.string(),
});

/** Bytes read from the end of a file to find its last row. Rows are far shorter. */
const maxTailBytes = 256 * 1024;
const newline = 0x0a;

export function segmentPath(directory: string, number: number): string {
  return join(directory, `${String(number).padStart(8, '0')}.jsonl`);
}

/** The numbers of the existing files, in order. */
export function listSegments(directory: string): number[] {
  if (!existsSync(directory)) return [];
  const found = readdirSync(directory).flatMap((name) => /^(\d{8})\.jsonl$/.exec(name)?.[1] ?? []);
  return found.map(Number).sort((one, other) => one - other);
}

/** Writes ASCII only, so that a line cut at any byte is still valid text. */
export function toLine(row: AuditRow): string {
  const toEscape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `${JSON.stringify(row).replace(/[\u007f-\uffff]/g, toEscape)}\n`;
}

/** `undefined` for a line that is not a row. */
export function parseRow(line: string): AuditRow | undefined {
  try {
    return Row.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

interface FileTail {
  readonly size: number;
  /** The last row; `undefined` if no row is near the end of the file. */
  readonly row: AuditRow | undefined;
  /** Bytes after the last newline, left by an interrupted write. */
  readonly torn: Buffer;
}

/** `from` is the offset of the beginning of a line. Nothing before it is read. */
export function readTail(handle: number, from = 0): FileTail {
  const { size } = fstatSync(handle);
  const bytes = Buffer.alloc(Math.min(size - (from > size ? 0 : from), maxTailBytes));
  const read = readSync(handle, bytes, 0, bytes.length, size - bytes.length);
  const found = bytes.subarray(0, read);
  const end = found.lastIndexOf(newline) + 1;
  return { size, row: lastRow(found.toString('latin1', 0, end).split('\n')), torn: found.subarray(end) };
}

function lastRow(lines: string[]): AuditRow | undefined {
  for (let line = lines.pop(); line !== undefined; line = lines.pop()) {
    const row = parseRow(line);
    if (row) return row;
  }
  return undefined;
}

export function readTailOf(path: string): FileTail {
  const handle = openSync(path, 'r');
  try {
    return readTail(handle);
  } finally {
    closeSync(handle);
  }
}
