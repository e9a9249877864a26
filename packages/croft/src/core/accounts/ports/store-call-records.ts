import type { CallRecord } from './call-tables.ts';
import type { Tables } from './records.ts';

/**
 * Stores the rows of several calls within a change: their audit rows in one statement. Resolves with whether the session
 * of each was stored.
 */
export async function storeCallRecords(
  { audit, calls, sessions }: Pick<Tables, 'audit' | 'calls' | 'sessions'>,
  records: readonly CallRecord[],
): Promise<boolean[]> {
  await audit.append(records.flatMap(({ entries = [] }) => entries));
  const stored: boolean[] = [];
  for (const { began, ended, session } of records) {
    if (began) await calls.insert(began);
    if (ended !== undefined) await calls.remove(ended);
    stored.push(session === undefined || (await sessions.put(session)));
  }
  return stored;
}
