import { type AuditHash, type ChainLink, chainStart } from '../../../core/accounts/ports/audit-chain.ts';
import type { AuditEntry, AuditRow, AuditTable } from '../../../core/accounts/ports/call-tables.ts';
import { defineTable, key, text, wholeNumber } from '../../sql/columns.ts';
import type { Result, SqlConnection } from '../../sql/database.ts';
import { parseNumber, readPage } from '../../sql/pages.ts';

export const table = defineTable<AuditRow>('audit', {
  sequence: wholeNumber('sequence'),
  accountId: key('account_id'),
  at: text('at'),
  actor: text('actor'),
  action: text('action'),
  target: text('target'),
  details: text('details'),
  previous: text('previous'),
  hash: text('hash'),
});

/** How rows are chained, and who is notified of new rows. */
export interface AuditChaining extends Pick<AuditHash, 'hash'> {
  onAppended?(from: ChainLink, to: ChainLink): void;
}

export const lastSql = 'SELECT sequence, hash FROM audit ORDER BY sequence DESC LIMIT 1';
const rowsPerStatement = 50;

export function createAuditTable(connection: SqlConnection, { hash, onAppended }: AuditChaining): AuditTable {
  return {
    async append(entries) {
      if (entries.length === 0) return;
      const from = (await readLast(connection)) ?? chainStart;
      const rows = chainEntries(entries, from, hash);
      for (let start = 0; start < rows.length; start += rowsPerStatement) {
        await insert(connection, rows.slice(start, start + rowsPerStatement));
      }
      onAppended?.(from, { rows: from.rows + rows.length, hash: rows.at(-1)?.hash ?? from.hash });
    },
    last: () => readLast(connection),
    list({ accountId, newestFirst }, { limit, after }) {
      const conditions = [
        ...(accountId === undefined ? [] : [['account_id = ?', accountId] as const]),
        ...(after === undefined ? [] : [[`sequence ${newestFirst ? '<' : '>'} ?`, parseNumber(after)] as const]),
      ];
      return readPage(connection, {
        table,
        where: conditions.map(([condition]) => condition),
        values: conditions.map(([, value]) => value),
        order: newestFirst ? 'sequence DESC' : 'sequence',
        limit,
        toNext: (stored) => String(stored.sequence),
      });
    },
  };
}

/**
 * Reads the last row. Changes run one at a time, so nobody can insert a row between this one and the rows that follow
 * it.
 */
async function readLast(connection: SqlConnection): Promise<ChainLink | undefined> {
  return toEnd(await connection.query(lastSql));
}

/** Reads the answer to `lastSql`. */
export function toEnd({ rows: [last] }: Result): ChainLink | undefined {
  return last && { rows: Number(last.sequence), hash: String(last.hash) };
}

/** Makes rows of entries, each with the hash of the row before it. */
export function chainEntries(entries: readonly AuditEntry[], from: ChainLink, hash: AuditHash['hash']): AuditRow[] {
  let { rows: sequence, hash: previous } = from;
  return entries.map(({ accountId, at, actor, action, target, details }) => {
    sequence += 1;
    const row = { sequence, accountId, at, actor, action, target, details, previous };
    previous = hash(row);
    return { ...row, hash: previous };
  });
}

async function insert(connection: SqlConnection, rows: readonly AuditRow[]): Promise<void> {
  const marks = rows.map(() => `(${table.marks})`).join(', ');
  const values = rows.flatMap((row) => table.toValues(row));
  await connection.query(`INSERT INTO audit (${table.list}) VALUES ${marks}`, values);
}
