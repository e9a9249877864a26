import { type ChainLink, chainStart } from '../../../core/accounts/ports/audit-chain.ts';
import type { AuditRow, CallRecord } from '../../../core/accounts/ports/call-tables.ts';
import type { Database, QueryAtOnce } from '../../sql/database.ts';
import { toInsert, toVersionUpdate } from '../../sql/rows.ts';
import * as audit from './audit.ts';
import { type CallRecordAnswer, readCallRecordAnswer, toCallRecordStatement } from './call-record-function.ts';
import * as calls from './calls-in-progress.ts';
import * as sessions from './sessions.ts';

/** The rows of several calls. `rows` were hashed to follow `end`, the expected end of the audit trail. */
export interface CallBatch {
  readonly end: ChainLink;
  readonly rows: readonly AuditRow[];
  readonly records: readonly CallRecord[];
}

/**
 * Stores the rows of several calls as one change, without a transaction whose statements are awaited one by one: in one
 * statement, or in one turn. Stores nothing and answers where the trail ends, if that is not the expected end.
 */
export async function storeCallsAtOnce(database: Database, batch: CallBatch): Promise<CallRecordAnswer> {
  const { oneTurn, oneStatement, deadlineMs } = database;
  if (oneTurn) return (await oneTurn((query) => storeInOneTurn(query, batch))) ?? {};
  if (!oneStatement) return {};
  const { end, rows, records } = batch;
  return readCallRecordAnswer(
    await oneStatement.run(...toCallRecordStatement(end, rows, records, deadlineMs)),
    records,
  );
}

const toAuditRow = toInsert(audit.table);
const toCall = toInsert(calls.table);
const toSession = toVersionUpdate(sessions.table, ...sessions.identity);

function storeInOneTurn(query: QueryAtOnce, { end, rows, records }: CallBatch): CallRecordAnswer {
  const found = audit.toEnd(query(audit.lastSql)) ?? chainStart;
  if (found.rows !== end.rows || found.hash !== end.hash) return { end: found };
  for (const row of rows) query(...toAuditRow(row));
  const stored = records.map(({ began, ended, session }) => {
    if (began) query(...toCall(began));
    if (ended !== undefined) query(calls.removeSql, [ended]);
    return session === undefined || query(...toSession(session)).count === 1;
  });
  return { stored };
}
