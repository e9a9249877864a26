import { expect, test, vi } from 'vitest';
import { approvalRow, requestRow, sessionRow } from '../../test/contracts/records-rows.ts';
import { makeDirectory } from '../../test/harness.ts';
import { openRecords } from '../records/index.ts';
import { startSweeping } from './sweep.ts';

const dayMs = 86_400_000;

test('what has had its time goes at the start, and nothing that has not', async () => {
  using directory = makeDirectory();
  await using records = await openRecords({ file: directory.at('croft.db') });
  const now = Date.parse('2026-06-01T00:00:00.000Z');
  const ago = (days: number) => new Date(now - days * dayMs).toISOString();
  const of = 'acct_sweep';
  await records.change(async ({ sessions, requests, approvals }) => {
    for (const days of [8, 6]) await sessions.put(sessionRow(of, { session: `s${days}`, usedAt: ago(days) }));
    for (const days of [2, 0.5]) await requests.insert(requestRow(of, { key: `r${days}`, createdAt: ago(days) }));
    for (const days of [31, 29]) await approvals.insert(approvalRow(of, { expiresAt: ago(days) }));
  });
  using _ = startSweeping({
    records,
    now: () => new Date(now),
    sessionIdleMs: 7 * dayMs,
    closeStale: async () => {},
    closeGone() {},
    onFailure: expect.unreachable,
  });
  const left = () =>
    records.read(async ({ sessions, requests, approvals }) => ({
      sessions: (await sessions.list(of, 'agent_1', { limit: 9 })).rows.map(({ session }) => session),
      requests: [await requests.get(of, 'r2'), await requests.get(of, 'r0.5')].map((row) => row?.key),
      approvals: (await approvals.list(of, {}, { limit: 9 })).rows.map(({ expiresAt }) => expiresAt),
    }));
  await vi.waitFor(async () =>
    expect(await left()).toEqual({ sessions: ['s6'], requests: [undefined, 'r0.5'], approvals: [ago(29)] }),
  );
});
