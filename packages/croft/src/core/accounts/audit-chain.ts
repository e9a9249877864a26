import { sha256 } from '../../lib/sha256.ts';
import type { AuditRow } from './records.ts';

export const firstPrevious = '0'.repeat(64);

/** Binds a row to all before it. Fields are length-prefixed by JSON, so that no two rows read the same. */
export function chainHash(row: Omit<AuditRow, 'hash'>): string {
  const { previous, sequence, accountId, at, actor, action, target, details } = row;
  return sha256(JSON.stringify([previous, sequence, accountId, at, actor, action, target, details]));
}

/** The first row that does not follow from the one before it, or `undefined`. `last` is the row before the first. */
export function findBreak(rows: readonly AuditRow[], last?: Pick<AuditRow, 'sequence' | 'hash'>): AuditRow | undefined {
  let [sequence, previous] = [last?.sequence ?? 0, last?.hash ?? firstPrevious];
  for (const row of rows) {
    if (row.sequence !== sequence + 1 || row.previous !== previous || row.hash !== chainHash(row)) return row;
    [sequence, previous] = [row.sequence, row.hash];
  }
  return undefined;
}
