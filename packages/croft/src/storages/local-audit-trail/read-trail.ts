import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { AuditRow } from '../../core/accounts/ports/call-tables.ts';
import { sha256 } from '../../lib/crypto/sha256.ts';
import { listSegments, parseRow, readTailOf, segmentPath } from './trail-segments.ts';

/** A line of the trail is not a row, and no crash explains it. */
export class DamagedTrail extends Error {
  override readonly name = 'DamagedTrail';
  /** The sequence number of the last good row. */
  readonly row: number;
  constructor(row: number) {
    super('the line after this row is not an audit row, and no later row explains it by a crash');
    this.row = row;
  }
}

const rowsPerPage = 500;

/**
 * Counts the bytes of an incomplete row at the very end, which a crash or a full disk leaves. The next row that is
 * appended reports them.
 */
export function tornAtEnd(directory: string): number {
  const last = listSegments(directory).at(-1);
  return last === undefined ? 0 : readTailOf(segmentPath(directory, last)).torn.length;
}

/** Yields all rows in order, in pages. Throws `DamagedTrail`. */
export async function* readTrail(directory: string): AsyncGenerator<readonly AuditRow[]> {
  let page: AuditRow[] = [];
  for await (const row of rowsOf(directory)) {
    page.push(row);
    if (page.length < rowsPerPage) continue;
    yield page;
    page = [];
  }
  yield page;
}

async function* rowsOf(directory: string): AsyncGenerator<AuditRow> {
  let [last, torn]: [number, string | undefined] = [0, undefined];
  for await (const line of linesOf(directory)) {
    const row = parseRow(line);
    if (torn !== undefined && !(row && tellsOf(row, torn))) throw new DamagedTrail(last);
    torn = row ? undefined : line;
    if (!row) continue;
    yield row;
    last = row.sequence;
  }
  if (torn !== undefined) throw new DamagedTrail(last);
}

/** Yields complete lines only: bytes after the last newline of a file are left out. */
async function* linesOf(directory: string): AsyncGenerator<string> {
  for (const number of listSegments(directory)) {
    const path = segmentPath(directory, number);
    const { size, torn } = readTailOf(path);
    const end = size - torn.length - 1;
    if (end >= 0) yield* createInterface({ input: createReadStream(path, { end, encoding: 'latin1' }) });
  }
}

function tellsOf({ action, details }: AuditRow, line: string): boolean {
  return action === 'audit.torn' && details.includes(sha256(line));
}
