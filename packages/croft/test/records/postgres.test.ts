import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { findBreak } from '../../src/core/accounts/ports/audit-chain.ts';
import type { Records } from '../../src/core/accounts/ports/records.ts';
import { openRecords } from '../../src/records/index.ts';
import { describeRecords } from '../contracts/records.ts';
import { accountRow, addAccount, auditEntry } from '../contracts/records-rows.ts';
import { startPostgres } from '../support/servers/postgres.ts';

const server = await startPostgres();
afterAll(() => server?.[Symbol.asyncDispose]());

async function prepare() {
  const url = await server!.createSchema();
  const opened: Records[] = [];
  return {
    url,
    options: { url },
    async open(options?: { readonly deadlineMs?: number }) {
      const records = await openRecords({ url, ...options });
      opened.push(records);
      return records;
    },
    async execute(sql: string) {
      await server!.execute(url, sql);
    },
    async [Symbol.asyncDispose]() {
      for (const records of opened) await records[Symbol.asyncDispose]();
    },
  };
}

const backends = `FROM pg_stat_activity WHERE application_name = 'croft' AND pid <> pg_backend_pid()`;
const list = (records: Records) => records.read(async (tables) => (await tables.accounts.list({ limit: 100 })).rows);

describe.skipIf(!server)('with a server', () => {
  describeRecords('postgres', prepare);

  test('a connection lost between two changes is replaced silently', async () => {
    await using fixture = await prepare();
    const records = await fixture.open();
    for (let round = 1; round <= 5; round += 1) {
      await addAccount(records);
      await fixture.execute(`SELECT pg_terminate_backend(pid) ${backends}`);
      expect(await list(records)).toHaveLength(round);
    }
  });

  test('a change whose connection is lost runs again on a new one, and is stored once', async () => {
    await using fixture = await prepare();
    const records = await fixture.open();
    let runs = 0;
    await records.change(async (tables) => {
      runs += 1;
      await tables.accounts.insert(accountRow({ accountId: 'first' }));
      if (runs === 1) {
        await fixture.execute(`SELECT pg_terminate_backend(pid) ${backends}`);
        // Until this side knows as well: the driver brings the process down if it is asked for anything more.
        await vi.waitFor(() => fixture.execute(`SELECT 1 / (1 - SIGN(COUNT(*))) ${backends}`));
      }
      // Side by side, so that the driver has more than one to put off.
      await Promise.all(['a', 'b', 'c'].map((accountId) => tables.accounts.insert(accountRow({ accountId }))));
    });
    expect(runs).toBe(2);
    expect((await list(records)).map(({ accountId }) => accountId)).toEqual(['first', 'a', 'b', 'c']);
  });

  test('an outage is reported, and afterwards the same records go on', async () => {
    await using fixture = await prepare();
    const records = await fixture.open();
    const accountId = await addAccount(records);
    await server!.crash();
    const attempts: [() => Promise<unknown>, string][] = [
      [() => addAccount(records), 'reconnects by itself'],
      [() => list(records), 'reconnects by itself'],
      [() => openRecords({ url: fixture.url }), 'start croft again'],
    ];
    for (const [attempt, next] of attempts) {
      const failing = attempt();
      await expect(failing).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
      await expect(failing).rejects.toThrow(new RegExp(`check that it runs.*${next}`));
    }
    await server!.start();
    const after = await addAccount(records);
    expect((await list(records)).map((row) => row.accountId)).toEqual([accountId, after]);
  });

  test('a crash of PostgreSQL during changes loses no acknowledged change', async () => {
    await using fixture = await prepare();
    const records = await fixture.open();
    const acknowledged: string[] = [];
    const write = async (lane: number) => {
      for (let count = 0; ; count += 1) {
        const target = `${lane} ${count}`;
        await records.change((tables) => tables.audit.append([auditEntry('a', { target })]));
        acknowledged.push(target);
      }
    };
    const lanes = Promise.allSettled(Array.from({ length: 6 }, (_, lane) => write(lane)));
    await vi.waitFor(() => expect(acknowledged.length).toBeGreaterThan(100));
    await server!.crash();
    for (const end of await lanes)
      expect(end).toMatchObject({ status: 'rejected', reason: { code: 'E_STORAGE_FAILED' } });
    await server!.start();
    const { rows } = await records.read((tables) => tables.audit.list({}, { limit: 1000 }));
    expect(findBreak(rows)).toBeUndefined();
    const kept = new Set(rows.map(({ target }) => target));
    expect(acknowledged.slice(0, 1000 - 6).filter((target) => !kept.has(target))).toEqual([]);
    expect(kept.size).toBe(rows.length);
  });

  test('a network that drops everything costs one deadline, and then a new connection is made', async () => {
    await using fixture = await prepare();
    await using road = await openRoad(fixture.url);
    await using records = await openRecords({ url: road.url, deadlineMs: 2000 });
    const accountId = await addAccount(records);
    for (const attempt of [() => addAccount(records), () => list(records)]) {
      road.swallow();
      await expect(attempt()).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
      road.mend();
    }
    // The one whose answer was lost on the way may have been kept or not, but what is there is whole.
    const after = await vi.waitFor(() => addAccount(records));
    const ids = (await list(records)).map((row) => row.accountId);
    expect([ids[0], ids.at(-1)]).toEqual([accountId, after]);
  });

  test('another server that does not end its change is waited for up to the deadline', async () => {
    await using fixture = await prepare();
    const [records, other] = [await fixture.open({ deadlineMs: 2000 }), await fixture.open()];
    const { promise: end, resolve: letGo } = Promise.withResolvers<void>();
    const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>();
    const held = other.change(async () => {
      hold();
      await end;
    });
    await isHeld;
    await expect(addAccount(records)).rejects.toThrow(/another server has kept the records locked for too long/);
    expect(await list(records)).toEqual([]);
    letGo();
    await held;
    await addAccount(records);
    expect(await list(records)).toHaveLength(1);
  });

  test('a wrong URL is refused with the wrong part, and never with the password', async () => {
    const url = new URL((await prepare()).url);
    url.pathname = '/absent';
    const wrong: [string, RegExp][] = [
      [url.href, /no database of the name in the URL/],
      [(await prepare()).url.replace(/part_\d+/, 'absent'), /no schema of the name in the URL/],
    ];
    for (const [href, message] of wrong) {
      const thrown = await openRecords({ url: href }).catch((error) => error);
      expect(thrown).toMatchObject({ code: 'E_STORAGE_FAILED', message: expect.stringMatching(message) });
      expect(JSON.stringify([thrown, thrown.message, thrown.stack, thrown.cause])).not.toContain('secret-of-the-url');
    }
  });

  test('rows are synced although the database is configured not to wait for the disk', async () => {
    await using fixture = await prepare();
    const records = await fixture.open();
    const name = new URL(fixture.url).pathname.slice(1);
    await fixture.execute(`ALTER DATABASE ${name} SET synchronous_commit = off`);
    try {
      await fixture.execute(`SELECT pg_terminate_backend(pid) ${backends}`);
      await fixture.execute(`CREATE FUNCTION seen() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN NEW.username := current_setting(''synchronous_commit''); RETURN NEW; END'`);
      await fixture.execute('CREATE TRIGGER seen BEFORE INSERT ON accounts FOR EACH ROW EXECUTE FUNCTION seen()');
      await addAccount(records);
      expect(await list(records)).toMatchObject([{ username: 'on' }]);
    } finally {
      await fixture.execute(`ALTER DATABASE ${name} RESET synchronous_commit`);
    }
  });
});

/** A proxy to the server of `url` that can be blocked without closing either side. */
async function openRoad(url: string) {
  const target = new URL(url);
  const [port, host] = [Number(target.port), target.hostname];
  const sockets: Socket[] = [];
  let isBlocked = false;
  const gate = createServer((near) => {
    const far = connect(port, host);
    for (const [from, to] of [[near, far] as const, [far, near] as const]) {
      sockets.push(from);
      from.on('error', () => {});
      from.on('close', () => isBlocked || to.destroy());
      from.on('data', (bytes) => isBlocked || to.write(bytes));
    }
  }).listen(0, '127.0.0.1');
  await once(gate, 'listening');
  const address = gate.address();
  target.port = String(typeof address === 'object' ? address?.port : 0);
  const clear = () => sockets.splice(0).forEach((socket) => void socket.destroy());
  return {
    url: target.href,
    swallow() {
      isBlocked = true;
    },
    mend() {
      clear();
      isBlocked = false;
    },
    async [Symbol.asyncDispose]() {
      clear();
      gate.close();
    },
  };
}

test('a silent server is given up at the deadline', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = silent.address();
  try {
    const port = typeof address === 'object' ? address?.port : 0;
    const startedAt = performance.now();
    const opening = openRecords({ url: `postgres://croft@127.0.0.1:${port}/croft`, deadlineMs: 1000 });
    await expect(opening).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
    // The driver by itself waits for half a minute.
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  } finally {
    for (const socket of sockets) socket.destroy();
    silent.close();
  }
});
