import type { AuditRow } from '../ports/call-tables.ts';
import type { AuditSource } from './audit-source.ts';

export type AuditOrder = 'oldest' | 'newest';

export type AuditRowMerger = ReturnType<typeof createAuditRowMerger>;

const rowsPerRead = 200;

/** Reads the rows of several chains as one list, by time. */
export function createAuditRowMerger(sources: readonly AuditSource[], positions: readonly number[], order: AuditOrder) {
  const walks = sources.map((source, index) => createWalk(source, positions[index] ?? 0, order));
  const isFirst = (one: AuditRow, other: AuditRow) => (order === 'oldest' ? one.at <= other.at : one.at >= other.at);

  return {
    /** Resolves with the next row, or `undefined` at the end. */
    async next(): Promise<AuditRow | undefined> {
      const heads = await Promise.all(walks.map((walk) => walk.peek()));
      let best: number | undefined;
      heads.forEach((row, index) => {
        const found = best === undefined ? undefined : heads[best];
        if (row && (!found || !isFirst(found, row))) best = index;
      });
      return best === undefined ? undefined : walks[best]?.take();
    },
    hasMore: async () => (await Promise.all(walks.map((walk) => walk.peek()))).some((row) => row !== undefined),
    positions: () => walks.map((walk) => walk.position()),
  };
}

function createWalk(source: AuditSource, start: number, order: AuditOrder) {
  let [position, isOver] = [start, false];
  let [rows, at]: [readonly AuditRow[], number] = [[], 0];

  async function peek(): Promise<AuditRow | undefined> {
    if (at >= rows.length && !isOver) {
      const found =
        order === 'oldest' ? await source.after(position, rowsPerRead) : await source.before(position, rowsPerRead);
      [rows, at, isOver] = [found, 0, found.length === 0];
    }
    return rows[at];
  }

  return {
    peek,
    take(): AuditRow | undefined {
      const row = rows[at];
      at += 1;
      position = row?.sequence ?? position;
      return row;
    },
    /** The position at which a later walk continues. */
    position: () => position,
  };
}
