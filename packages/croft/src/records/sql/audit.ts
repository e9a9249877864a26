import { chainHash, firstPrevious } from '../../core/accounts/audit-chain.ts';
import type { AuditEntry, AuditRow, AuditTable } from '../../core/accounts/records.ts';
import { defineTable, key, text, whole } from './columns.ts';
import type { Connection } from './database.ts';
import { parseNumber, readPage } from './pages.ts';

const table = defineTable<AuditRow>('audit', {
  sequence: whole('sequence'),
  accountId: key('account_id'),
  at: text('at'),
  actor: text('actor'),
  action: text('action'),
  target: text('target'),
  details: text('details'),
  previous: text('previous'),
  hash: text('hash'),
});

type Link = Pick<AuditRow, 'sequence' | 'hash'>;

const lastSql = 'SELECT sequence, hash FROM audit ORDER BY sequence DESC LIMIT 1';
const rowsPerStatement = 50;

export function createAuditTable(connection: Connection): AuditTable {
  return {
    async append(entries) {
      if (entries.length === 0) return;
      const rows = chain(entries, await readLast(connection));
      for (let start = 0; start < rows.length; start += rowsPerStatement) {
        await insert(connection, rows.slice(start, start + rowsPerStatement));
      }
    },
    list({ accountId }, { limit, after }) {
      return readPage(connection, {
        table,
        where: [
          ...(accountId === undefined ? [] : ['account_id = ?']),
          ...(after === undefined ? [] : ['sequence > ?']),
        ],
        values: [...(accountId === undefined ? [] : [accountId]), ...(after === undefined ? [] : [parseNumber(after)])],
        order: 'sequence',
        limit,
        toNext: (stored) => String(stored.sequence),
      });
    },
  };
}

/** Changes come one after the other, so that nobody can put a row between this one and those that follow it. */
async function readLast(connection: Connection): Promise<Link> {
  const [last] = (await connection.query(lastSql)).rows;
  return last ? { sequence: Number(last.sequence), hash: String(last.hash) } : { sequence: 0, hash: firstPrevious };
}

function chain(entries: readonly AuditEntry[], last: Link): AuditRow[] {
  let { sequence, hash: previous } = last;
  return entries.map(({ accountId, at, actor, action, target, details }) => {
    sequence += 1;
    const row = { sequence, accountId, at, actor, action, target, details, previous };
    previous = chainHash(row);
    return { ...row, hash: previous };
  });
}

async function insert(connection: Connection, rows: readonly AuditRow[]): Promise<void> {
  const marks = rows.map(() => `(${table.marks})`).join(', ');
  const values = rows.flatMap((row) => table.toValues(row));
  await connection.query(`INSERT INTO audit (${table.list}) VALUES ${marks}`, values);
}
