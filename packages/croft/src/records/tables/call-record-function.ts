import type { ChainLink } from '../../core/accounts/ports/audit-chain.ts';
import type { AuditRow, CallRecord } from '../../core/accounts/ports/call-tables.ts';
import type { Database, Result, Value } from '../sql/database.ts';
import { checkStorable } from '../sql/work-scope.ts';
import * as audit from './audit.ts';
import * as calls from './calls.ts';
import * as sessions from './sessions.ts';

/**
 * Migration 8: a function that stores the rows of several calls in one statement, for databases on another machine. It
 * takes the lock of changes itself. It stores nothing unless the audit trail ends where the caller says, because the
 * hashes of the rows were made for that end.
 *
 * Each statement of a function sees what was committed before it in READ COMMITTED only, so that the function refuses
 * every other isolation level.
 */
export function callRecordFunction(_: string, { oneStatement }: Pick<Database, 'oneStatement'>): string[] {
  if (!oneStatement) return [];
  const columns = (count: number) => Array.from({ length: count }, (_, index) => `v ->> ${index}`).join(', ');
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
  IF COALESCE(found_rows, 0) <> end_rows OR found_hash <> end_hash THEN RETURN NULL; END IF;
  INSERT INTO audit (sequence, account_id, at, actor, action, target, details, previous, hash)
    SELECT (v ->> 0)::bigint, ${columns(9).slice('v ->> 0, '.length)} FROM json_array_elements(batch -> 'entries') AS v;
  INSERT INTO calls (call_id, server_id, account_id, actor, tool)
    SELECT ${columns(5)} FROM json_array_elements(batch -> 'began') AS v ON CONFLICT DO NOTHING;
  DELETE FROM calls WHERE call_id IN (SELECT json_array_elements_text(batch -> 'ended'));
  WITH put AS (
    UPDATE sessions AS s SET parent = v ->> 3, state = v ->> 4, used_at = v ->> 5, version = (v ->> 6)::integer,
        server_id = v ->> 7
      FROM json_array_elements(batch -> 'sessions') AS v
      WHERE s.account_id = v ->> 0 AND s.agent_id = v ->> 1 AND s.session = v ->> 2
        AND s.version = (v ->> 6)::integer - 1
      RETURNING json_build_array(s.account_id, s.agent_id, s.session) AS id
  ) SELECT COALESCE(json_agg(id), '[]') INTO stored FROM put;
  RETURN stored::text;
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
  return ['SELECT croft_record_calls(?, ?, ?, ?) AS stored', [deadlineMs, end.rows, end.hash, batch]];
}

/** Reads the answer: whether the session of each record was stored. `undefined` if nothing was. */
export function readCallRecordAnswer({ rows }: Result, records: readonly CallRecord[]): boolean[] | undefined {
  const [row] = rows;
  if (typeof row?.stored !== 'string') return undefined;
  const stored = new Set((JSON.parse(row.stored) as string[][]).map((id) => JSON.stringify(id)));
  return records.map(({ session }) => session === undefined || stored.has(toSessionKey(session)));
}

export function toSessionKey({ accountId, agentId, session }: NonNullable<CallRecord['session']>): string {
  return JSON.stringify([accountId, agentId, session]);
}

/** Throws `E_INVALID_INPUT` for a record that cannot be stored: it must not fail the others that it would be stored with. */
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
