import { expect, test, vi } from 'vitest';
import { addAccount, approvalRow, removalRow, requestRow, sessionRow } from '../../../test/contracts/records-rows.ts';
import { makeDirectory } from '../../../test/support/harness.ts';
import { openRecords } from '../../records/index.ts';
import { startRecordSweep } from './record-sweep.ts';

const dayMs = 86_400_000;

test('rows past their age are removed at the start, and newer rows stay', async () => {
  using directory = makeDirectory();
  await using records = await openRecords({ file: directory.at('croft.db') });
  const now = Date.parse('2026-06-01T00:00:00.000Z');
  const ago = (days: number) => new Date(now - days * dayMs).toISOString();
  const of = await addAccount(records);
  await records.change(async ({ sessions, requests, approvals, removals }) => {
    for (const days of [8, 6]) await sessions.put(sessionRow(of, { session: `s${days}`, usedAt: ago(days) }));
    for (const days of [2, 0.5]) await requests.insert(requestRow(of, { key: `r${days}`, createdAt: ago(days) }));
    for (const days of [31, 29]) await approvals.insert(approvalRow(of, { expiresAt: ago(days) }));
    for (const days of [91, 89]) await removals.insert(removalRow(of, { createdAt: ago(days) }));
  });
  using _ = startRecordSweep({
    records,
    now: () => new Date(now),
    sessionIdleMs: 7 * dayMs,
    removalMs: 90 * dayMs,
    closeStale: async () => {},
    closeGone() {},
    onFailure: expect.unreachable,
  });
  const left = () =>
    records.read(async ({ sessions, requests, approvals, removals }) => ({
      sessions: (await sessions.list(of, 'agent_1', { limit: 9 })).rows.map(({ session }) => session),
      requests: [await requests.get(of, 'r2'), await requests.get(of, 'r0.5')].map((row) => row?.key),
      approvals: (await approvals.list(of, {}, { limit: 9 })).rows.map(({ expiresAt }) => expiresAt),
      removals: (await removals.list(of, 'far', { limit: 9 })).rows.map(({ createdAt }) => createdAt),
    }));
  await vi.waitFor(async () =>
    expect(await left()).toEqual({
      ...{ sessions: ['s6'], requests: [undefined, 'r0.5'] },
      ...{ approvals: [ago(29)], removals: [ago(89)] },
    }),
  );
});
