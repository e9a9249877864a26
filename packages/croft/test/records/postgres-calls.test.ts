import { afterAll, describe, expect, test, vi } from 'vitest';
import type { Records } from '../../src/core/accounts/ports/records.ts';
import { openRecords } from '../../src/records/index.ts';
import { readTargets, toBegin } from '../contracts/records-calls.ts';
import { addAccount, auditEntry, sessionRow } from '../contracts/records-rows.ts';
import { startCountingProxy } from '../support/servers/counting-proxy.ts';
import { startPostgres } from '../support/servers/postgres.ts';

const server = await startPostgres();
afterAll(() => server?.[Symbol.asyncDispose]());

/** Records behind a proxy, which know where the audit trail ends: the first two changes find that out. */
async function open() {
  const url = await server!.createSchema();
  const proxy = await startCountingProxy(url);
  const records = await openRecords({ url: proxy.url });
  const accountId = await addAccount(records);
  for (let count = 0; count < 2; count += 1) await records.recordCall(toBegin(accountId));
  return {
    ...{ url, proxy, records, accountId },
    async countRoundTrips(work: () => Promise<unknown>): Promise<number> {
      const before = proxy.roundTrips();
      await work();
      return proxy.roundTrips() - before;
    },
    async [Symbol.asyncDispose]() {
      await records[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

/** Counts the open calls after it has checked the chain. */
async function openCallsOf(records: Records): Promise<number> {
  await readTargets(records);
  return (await records.read(({ calls }) => calls.of('server_1', 1000))).length;
}

describe.skipIf(!server)('records of calls on PostgreSQL', () => {
  test('take one round trip for a beginning, and one for an end with its session', async () => {
    await using fixture = await open();
    const { records, accountId, countRoundTrips } = fixture;
    const session = sessionRow(accountId);
    await records.change(({ sessions }) => sessions.put(session));
    const begin = toBegin(accountId);
    // The first statement of its kind is prepared, in a round trip of its own.
    await records.recordCall(toBegin(accountId));
    expect(await countRoundTrips(() => records.recordCall(begin))).toBe(1);
    const entries = [auditEntry(accountId)];
    const end = [{ entries, ended: begin.began!.callId }, { session: { ...session, version: 2 } }];
    expect(await countRoundTrips(() => Promise.all(end.map(records.recordCall)))).toBe(1);
  });

  test('of a hundred concurrent calls take two round trips: the first call, and the others', async () => {
    await using fixture = await open();
    const { records, accountId, countRoundTrips } = fixture;
    await records.recordCall(toBegin(accountId));
    const all = Array.from({ length: 100 }, () => toBegin(accountId));
    const first = records.recordCall(toBegin(accountId));
    await new Promise(setImmediate);
    const others = () => Promise.all(all.map(records.recordCall));
    expect(await countRoundTrips(others)).toBeLessThanOrEqual(2);
    await first;
    expect(await readTargets(records)).toHaveLength(104);
  });

  test('take about two round trips while another server stores calls all the time', async () => {
    await using fixture = await open();
    const { records, accountId, countRoundTrips } = fixture;
    await using other = await openRecords({ url: fixture.url });
    let isOver = false;
    const disturbing = (async () => {
      for (; !isOver; ) await Promise.all([other.recordCall(toBegin(accountId)), other.recordCall(toBegin(accountId))]);
    })();
    const calls = 60;
    const trips = await countRoundTrips(async () => {
      for (let count = 0; count < calls; count += 1) await records.recordCall(toBegin(accountId));
    });
    isOver = true;
    await disturbing;
    expect(trips / calls).toBeLessThan(2.6);
    expect(await openCallsOf(records)).toBeGreaterThan(calls);
  });

  test('are stored once although the connection was lost before the answer', async () => {
    await using fixture = await open();
    const { records, accountId, proxy } = fixture;
    const begin = toBegin(accountId);
    await records.recordCall(toBegin(accountId));
    proxy.cutNextAnswer();
    await records.recordCall(begin);
    const targets = await readTargets(records);
    expect(targets.filter((target) => target === begin.began!.callId)).toHaveLength(1);
    await records.recordCall({ entries: [auditEntry(accountId)], ended: begin.began!.callId });
    expect(await readTargets(records)).toHaveLength(targets.length + 1);
  });

  test('without an answer of PostgreSQL in time may or may not be stored, which the error says', async () => {
    const url = await server!.createSchema();
    await using records = await openRecords({ url, deadlineMs: 1000 });
    const accountId = await addAccount(records);
    for (let count = 0; count < 3; count += 1) await records.recordCall(toBegin(accountId));
    server!.hang();
    try {
      const late = records.recordCall(toBegin(accountId));
      await expect(late).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
      await expect(late).rejects.toThrow(/may or may not have been stored/);
    } finally {
      server!.resume();
    }
    await vi.waitFor(() => records.recordCall(toBegin(accountId)), { timeout: 20_000 });
    await readTargets(records);
  });

  test('take two round trips after a row of another server, and continue its chain', async () => {
    await using fixture = await open();
    const { records, accountId, url, countRoundTrips } = fixture;
    await using other = await openRecords({ url });
    await records.recordCall(toBegin(accountId));
    for (let round = 0; round < 5; round += 1) {
      await other.change(({ audit }) => audit.append([auditEntry(accountId)]));
      expect(await countRoundTrips(() => records.recordCall(toBegin(accountId)))).toBe(2);
      expect(await countRoundTrips(() => records.recordCall(toBegin(accountId)))).toBe(1);
    }
    expect(await readTargets(records)).toHaveLength(18);
  });

  test('are synced although the database is configured not to wait for the disk', async () => {
    await using fixture = await open();
    const { records, accountId, url } = fixture;
    const name = new URL(url).pathname.slice(1);
    await server!.execute(
      url,
      `CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN NEW.tool := current_setting(''synchronous_commit''); RETURN NEW; END'`,
    );
    await server!.execute(url, 'CREATE TRIGGER note BEFORE INSERT ON calls FOR EACH ROW EXECUTE FUNCTION note()');
    await server!.execute(url, `ALTER DATABASE ${name} SET synchronous_commit = off`);
    try {
      await using fresh = await openRecords({ url });
      for (let count = 0; count < 4; count += 1) await fresh.recordCall(toBegin(accountId));
      const tools = (await records.read(({ calls }) => calls.of('server_1', 9))).map(({ tool }) => tool);
      expect(tools.toSorted()).toEqual(['bash', 'bash', 'on', 'on', 'on', 'on']);
    } finally {
      await server!.execute(url, `ALTER DATABASE ${name} RESET synchronous_commit`);
    }
  });
});
