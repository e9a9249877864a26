import { describe, expect, test } from 'vitest';
import { findBreak } from '../../src/core/accounts/ports/audit-chain.ts';
import type { CallRecord } from '../../src/core/accounts/ports/call-tables.ts';
import type { Records } from '../../src/core/accounts/ports/records.ts';
import type { PrepareRecords } from './records.ts';
import { addAccount, auditEntry, newId, sessionRow } from './records-rows.ts';

const serverId = 'server_1';

/** The beginning of a call, as the audit journal records it. */
export function toBegin(accountId: string, callId = newId('call')): CallRecord {
  const began = { callId, serverId, accountId, actor: 'agent s', tool: 'bash' };
  return { entries: [auditEntry(accountId, { target: callId })], began };
}

export async function readTargets(records: Records): Promise<string[]> {
  const { rows } = await records.read(({ audit }) => audit.list({}, { limit: 1000 }));
  expect(findBreak(rows)).toBeUndefined();
  return rows.map(({ target }) => target);
}

const openCalls = (records: Records) => records.read(({ calls }) => calls.of(serverId, 1000));

export function describeCalls(prepare: PrepareRecords): void {
  describe('records of calls', () => {
    test('that begin and end at once are all in one chain, and no call stays open', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      const ids = Array.from({ length: 300 }, () => newId('call'));
      await Promise.all(ids.map((id) => records.recordCall(toBegin(accountId, id))));
      expect((await openCalls(records)).map(({ callId }) => callId)).toEqual(ids.toSorted());
      const end = (id: string) => records.recordCall({ entries: [auditEntry(accountId, { target: id })], ended: id });
      await Promise.all(ids.map(end));
      expect(await openCalls(records)).toEqual([]);
      expect(await readTargets(records)).toEqual([...ids, ...ids]);
    });

    test('that cannot be stored fail without others failing', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      const bad = ['nul \0', 'half \ud800'].map((target) => ({ entries: [auditEntry(accountId, { target })] }));
      const long = { began: { ...toBegin(accountId).began!, callId: 'x'.repeat(600) } };
      const good = Array.from({ length: 20 }, () => toBegin(accountId));
      const all = [...good.slice(0, 10), ...bad, long, ...good.slice(10)];
      const results = await Promise.allSettled(all.map((each) => records.recordCall(each)));
      expect(results.map(({ status }) => status === 'fulfilled')).toEqual(all.map((each) => good.includes(each)));
      expect(await readTargets(records)).toEqual(good.map(({ began }) => began!.callId));
    });

    test('keep every text of a row exactly', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      const session = sessionRow(accountId, { session: `it's "one" \\ $1 ? \u2028 😀`, parent: undefined });
      await records.change(({ sessions }) => sessions.put(session));
      const details = JSON.stringify({ text: `'"\\\\ \n\t ? $2 \u0001 ÿ 😀` });
      for (const version of [2, 3, 4]) {
        const entries = [auditEntry(accountId, { details, target: `'${version}" \u2029\r` })];
        const row = { ...session, state: details, serverId: `"'\\`, version };
        expect(await records.recordCall({ entries, session: row })).toBe(true);
        const stored = await records.read(({ sessions }) => sessions.get(accountId, row.agentId, row.session));
        expect(stored).toEqual(row);
      }
      const { rows } = await records.read(({ audit }) => audit.list({}, { limit: 9 }));
      expect(rows.map((row) => row.details)).toEqual([details, details, details]);
      expect(findBreak(rows)).toBeUndefined();
    });

    test('store a session that follows the stored one, and report any other', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      const [mine, other] = [sessionRow(accountId), sessionRow(accountId)];
      for (const row of [mine, other]) await records.change(({ sessions }) => sessions.put(row));
      const absent = sessionRow(accountId, { version: 2 });
      const rounds = [2, 3, 4].map((version) => [
        { session: { ...mine, state: `{"round":${version}}`, version } },
        { session: { ...mine, state: '{"round":"the second at once"}', version } },
        { session: { ...other, state: '{"round":"too early"}', version: version + 9 } },
        { session: absent },
        { ...toBegin(accountId), session: undefined },
      ]);
      for (const round of rounds)
        expect(await Promise.all(round.map(records.recordCall))).toEqual([true, false, false, false, true]);
      const stored = await records.read(
        async ({ sessions }) => (await sessions.list(accountId, mine.agentId, page)).rows,
      );
      expect(stored).toEqual([{ ...mine, state: '{"round":4}', version: 4 }, other]);
    });

    test('of two concurrent servers form one chain, with every row once', async () => {
      await using fixture = await prepare();
      const servers = [await fixture.open(), await fixture.open()];
      const accountId = await addAccount(servers[0]!);
      const lanes = servers.flatMap((server) => Array.from({ length: 4 }, () => server));
      const stored = await Promise.all(
        lanes.map(async (server) => {
          const own = Array.from({ length: 25 }, () => toBegin(accountId));
          for (const each of own) await server.recordCall(each);
          return own.map(({ began }) => began!.callId);
        }),
      );
      expect((await readTargets(servers[1]!)).toSorted()).toEqual(stored.flat().toSorted());
    });
  });
}

const page = { limit: 9 };
