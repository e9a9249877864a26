import { type ChainLink, chainStart } from '../../../core/accounts/ports/audit-chain.ts';
import type { AuditRow, CallRecord } from '../../../core/accounts/ports/call-tables.ts';
import { checkStorable } from '../../sql/all-or-nothing-connection.ts';
import type { Database, Result, Value } from '../../sql/database.ts';
import * as audit from './audit.ts';
import * as calls from './calls-in-progress.ts';
import * as sessions from './sessions.ts';

/**
 * Migration 8: a function that stores the rows of several calls in one statement, for databases on another machine. It
 * takes the lock of changes itself. The hashes of the rows were made for one end of the audit trail: if the trail ends
 * elsewhere, the function stores nothing and answers where.
 *
 * Each statement of a function sees what was committed before it in READ COMMITTED only, so that the function refuses
 * every other isolation level.
 */
export function callRecordFunction(_: string, { oneStatement }: Pick<Database, 'oneStatement'>): string[] {
  if (!oneStatement) return [];
  const textsOf = (...columns: readonly number[]) => columns.map((column) => `v ->> ${column}`).join(', ');
  return [
    `CREATE OR REPLACE FUNCTION croft_record_calls(lock_ms INTEGER, end_rows BIGINT, end_hash TEXT, batch_text TEXT)
RETURNS TEXT LANGUAGE plpgsql SET search_path FROM CURRENT AS $body$
DECLARE
  batch JSON := batch_text;
  found_rows BIGINT;
  found_hash TEXT;
  stored JSON;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN RETURN NULL; END IF;
  PERFORM set_config('lock_timeout', lock_ms::text, true);
  IF current_setting('synchronous_commit') = 'off' THEN PERFORM set_config('synchronous_commit', 'on', true); END IF;
  PERFORM ${oneStatement.lockSql};
  SELECT sequence, hash INTO found_rows, found_hash FROM audit ORDER BY sequence DESC LIMIT 1;
  IF COALESCE(found_rows, 0) <> end_rows OR found_hash <> end_hash THEN
    RETURN json_build_object('rows', COALESCE(found_rows, 0), 'hash', found_hash);
  END IF;
  INSERT INTO audit (sequence, account_id, at, actor, action, target, details, previous, hash)
    SELECT (v ->> 0)::bigint, ${textsOf(1, 2, 3, 4, 5, 6, 7, 8)} FROM json_array_elements(batch -> 'entries') AS v;
  INSERT INTO calls (call_id, server_id, account_id, actor, tool)
    SELECT ${textsOf(0, 1, 2, 3, 4)} FROM json_array_elements(batch -> 'began') AS v ON CONFLICT DO NOTHING;
  DELETE FROM calls WHERE call_id IN (SELECT json_array_elements_text(batch -> 'ended'));
  WITH put AS (
    UPDATE sessions AS s SET parent = v ->> 3, state = v ->> 4, used_at = v ->> 5, version = (v ->> 6)::integer,
        server_id = v ->> 7
      FROM json_array_elements(batch -> 'sessions') AS v
      WHERE s.account_id = v ->> 0 AND s.agent_id = v ->> 1 AND s.session = v ->> 2
        AND s.version = (v ->> 6)::integer - 1
      RETURNING json_build_array(s.account_id, s.agent_id, s.session) AS id
  ) SELECT COALESCE(json_agg(id), '[]') INTO stored FROM put;
  RETURN json_build_object('sessions', stored);
END $body$`,
  ];
}

/** The statement for `callRecordFunction`. `rows` follow `end`, the end of the trail. */
export function toCallRecordStatement(
  end: ChainLink,
  rows: readonly AuditRow[],
  records: readonly CallRecord[],
  deadlineMs: number,
): [sql: string, values: Value[]] {
  const batch = JSON.stringify({
    entries: rows.map((row) => audit.table.toValues(row)),
    began: records.flatMap(({ began }) => (began ? [calls.table.toValues(began)] : [])),
    ended: records.flatMap(({ ended }) => ended ?? []),
    sessions: records.flatMap(({ session }) => (session ? [sessions.table.toValues(session)] : [])),
  });
  return ['SELECT croft_record_calls(?, ?, ?, ?) AS answer', [deadlineMs, end.rows, end.hash, batch]];
}

export interface CallRecordAnswer {
  /** Whether the session of each record was stored. Absent: nothing was. */
  readonly stored?: boolean[];
  /** End of the audit trail, if nothing was stored because it has another end. */
  readonly end?: ChainLink;
}

export function readCallRecordAnswer({ rows }: Result, records: readonly CallRecord[]): CallRecordAnswer {
  const [row] = rows;
  if (typeof row?.answer !== 'string') return {};
  const { sessions, rows: count, hash } = JSON.parse(row.answer);
  if (!Array.isArray(sessions))
    return { end: hash === null ? chainStart : { rows: Number(count), hash: String(hash) } };
  const keys = new Set(sessions.map((id) => JSON.stringify(id)));
  return { stored: records.map(({ session }) => session === undefined || keys.has(toSessionKey(session))) };
}

export function toSessionKey({ accountId, agentId, session }: NonNullable<CallRecord['session']>): string {
  return JSON.stringify([accountId, agentId, session]);
}

/**
 * Throws `E_INVALID_INPUT` for a record that cannot be stored: it must not fail the others that it would be stored
 * with.
 */
export function checkCallRecord({ entries = [], began, ended, session }: CallRecord): void {
  const unchained = { sequence: 0, previous: '', hash: '' };
  const values = [
    ...entries.flatMap((entry) => audit.table.toValues({ ...entry, ...unchained })),
    ...(began ? calls.table.toValues(began) : []),
    ...(session ? sessions.table.toValues(session) : []),
    ended ?? null,
  ];
  for (const value of values) checkStorable(value);
}
