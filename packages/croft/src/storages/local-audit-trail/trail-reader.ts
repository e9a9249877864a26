import { statSync } from 'node:fs';
import type { AuditSource } from '../../core/accounts/audit/audit-source.ts';
import type { AuditRow } from '../../core/accounts/ports/call-tables.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import { readRows, readRowsBefore } from './read-segment.ts';
import { listSegments, readTailOf, segmentPath } from './trail-segments.ts';

/** The end of a line: the segment, and the offset of the byte after the line. */
interface LineEnd {
  readonly segment: number;
  readonly offset: number;
}

/** Positions whose place in the files is remembered, so that a reader who goes on does not search again. */
const maxRemembered = 256;

/**
 * Reads the rows of a local trail from any position, in blocks, while other processes append to it. Lines that are no
 * rows are passed over: `readTrail` reports them.
 */
export function createTrailReader(directory: string): AuditSource {
  const ends = new BoundedMap<number, LineEnd>(maxRemembered);

  return {
    last: createLastReader(directory),
    async first() {
      const [segment] = listSegments(directory);
      const [found] = segment === undefined ? [] : await readRows({ directory, segment }, 0, 1);
      return found?.row.sequence ?? 0;
    },
    async after(position, limit) {
      const start = await findEndOf(position);
      return start ? readForward(start, limit) : [];
    },
    async before(position, limit) {
      const end = await findEndOf(position - 1);
      return end ? readBackward(end, limit) : [];
    },
  };

  /** Finds the end of the last row up to a position. */
  async function findEndOf(position: number): Promise<LineEnd | undefined> {
    const known = ends.get(position);
    if (known) return known;
    const segments = listSegments(directory).toReversed();
    for (const segment of segments) {
      const [first] = await readRows({ directory, segment }, 0, 1);
      const isHere = first !== undefined && first.row.sequence <= position;
      if (isHere || segment === segments.at(-1)) return scanSegment(directory, segment, position);
    }
    return undefined;
  }

  async function readForward(start: LineEnd, limit: number): Promise<AuditRow[]> {
    const found: { readonly row: AuditRow; readonly end: LineEnd }[] = [];
    for (const segment of listSegments(directory)) {
      if (segment < start.segment || found.length >= limit) continue;
      const from = segment === start.segment ? start.offset : 0;
      const rows = await readRows({ directory, segment }, from, limit - found.length);
      found.push(...rows.map(({ row, end }) => ({ row, end: { segment, offset: end } })));
    }
    const last = found.at(-1);
    if (last) ends.set(last.row.sequence, last.end);
    return found.map(({ row }) => row);
  }

  async function readBackward(end: LineEnd, limit: number): Promise<AuditRow[]> {
    const found: { row: AuditRow; start: LineEnd }[] = [];
    for (const segment of listSegments(directory).toReversed()) {
      if (segment > end.segment || found.length >= limit) continue;
      const to = segment === end.segment ? end.offset : readTailOf(segmentPath(directory, segment)).size;
      found.push(
        ...(await readRowsBefore({ directory, segment }, to, limit - found.length)).map(({ row, start }) => ({
          row,
          start: { segment, offset: start },
        })),
      );
    }
    const last = found.at(-1);
    if (last) ends.set(last.row.sequence - 1, last.start);
    return found.map(({ row }) => row);
  }
}

/** Returns the offset in one segment after the last row whose sequence number is at most `position`. */
async function scanSegment(directory: string, segment: number, position: number): Promise<LineEnd> {
  let offset = 0;
  for (;;) {
    const rows = await readRows({ directory, segment }, offset, 500);
    const later = rows.findIndex(({ row }) => row.sequence > position);
    const passed = later === -1 ? rows.at(-1) : rows[later - 1];
    offset = passed?.end ?? offset;
    if (later !== -1 || rows.length === 0) return { segment, offset };
  }
}

/** Reads the end of the trail again when the last file has grown. */
function createLastReader(directory: string) {
  let [seen, sequence] = ['', 0];
  return async (): Promise<number> => {
    const segment = listSegments(directory).at(-1);
    if (segment === undefined) return 0;
    const key = `${segment}/${statSync(segmentPath(directory, segment), { throwIfNoEntry: false })?.size}`;
    if (key !== seen) sequence = readTailOf(segmentPath(directory, segment)).row?.sequence ?? sequence;
    seen = key;
    return sequence;
  };
}
