import type { ApprovalRow, ApprovalTable } from '../../../core/accounts/ports/call-tables.ts';
import { defineTable, key, optional, text, wholeNumber, word } from '../../sql/columns.ts';
import type { SqlConnection } from '../../sql/database.ts';
import { readAll, readListing } from '../../sql/pages.ts';
import { alreadyExists, findRow, insertWithPlace, removeRows, updateVersion } from '../../sql/rows.ts';

export const table = defineTable<ApprovalRow>('approvals', {
  accountId: key('account_id'),
  approvalId: key('approval_id'),
  agentId: key('agent_id'),
  session: key('session'),
  tool: text('tool'),
  workspace: text('workspace'),
  content: text('content'),
  hash: key('hash'),
  state: word('state'),
  scope: word('scope'),
  createdAt: text('created_at'),
  expiresAt: text('expires_at'),
  decidedAt: optional('decided_at'),
  decidedBy: optional('decided_by'),
  reason: optional('reason'),
  version: wholeNumber('version'),
});

const newestOfCall = 'account_id = ? AND session = ? AND hash = ? ORDER BY place DESC';

const countSql = 'SELECT COUNT(*) AS count FROM approvals WHERE account_id = ? AND session = ? AND hash = ?';

export function createApprovalTable(connection: SqlConnection): ApprovalTable {
  return {
    async insert(row) {
      if (!(await insertWithPlace(connection, table, row))) throw alreadyExists('the approval', row.approvalId);
    },
    get: (accountId, id) => findRow(connection, table, 'account_id = ? AND approval_id = ?', accountId, id),
    byHash: (accountId, session, hash) => findRow(connection, table, newestOfCall, accountId, session, hash),
    async countByHash(accountId, session, hash) {
      const { rows } = await connection.query(countSql, [accountId, session, hash]);
      return Number(rows[0]?.count ?? 0);
    },
    list(accountId, { state, agentId }, page) {
      const asked = [
        ['account_id = ?', accountId],
        ['state = ?', state],
        ['agent_id = ?', agentId],
      ].flatMap(([where = '', value]) => (value === undefined ? [] : [{ where, value }]));
      return readListing(connection, {
        table,
        where: asked.map(({ where }) => where),
        values: asked.map(({ value }) => value),
        newestFirst: true,
        page,
      });
    },
    update: (row) => updateVersion(connection, table, row, 'accountId', 'approvalId'),
    removeBefore: (expiresAt) => removeRows(connection, table, 'expires_at < ?', expiresAt),
    all: (page) => readAll(connection, table, 'approval_id', page),
  };
}
