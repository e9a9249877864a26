import { chmodSync, mkdirSync, statSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { createSession } from '../../src/core/sessions/session.ts';
import { createSessionStore } from '../../src/core/sessions/session-store.ts';
import { openRecords } from '../../src/records/index.ts';
import { namespaceOf } from '../../src/storages/index.ts';
import { makeDirectory } from '../support/harness.ts';
import { addAccount, moveTo, openInstallation } from '../support/servers/installation.ts';
import { mustBe } from '../support/servers/platform.ts';
import { startPostgres } from '../support/servers/postgres.ts';
import { expectTrail, fillAccount, killFirstStarts, loadUntilKilled, newAgent, processesWith } from './kill-fixture.ts';

const postgres = await startPostgres();
afterAll(() => postgres?.[Symbol.asyncDispose]());

const stores = postgres ? (['sqlite', 'postgres'] as const) : (['sqlite'] as const);
const roundsOf = { sqlite: 3, postgres: 2 };
const maxMs = { sqlite: 12_000, postgres: 8000 };

describe.each(stores)('kill −9 under load, on %s', (store) => {
  test('no acknowledged change is lost, other changes are whole or absent, and the audit trail is unbroken', async () => {
    await using ownInstallation = openInstallation(
      store === 'postgres' ? ['--database-url', await postgres!.createSchema()] : [],
    );
    await killFirstStarts(ownInstallation, store === 'sqlite' ? ['keys', 'croft.db', 'croft.db-wal'] : ['keys']);
    let server = await ownInstallation.start();
    const account = await addAccount(server, 'ann');
    const { lanes, resting } = await fillAccount(account);
    const endAt = performance.now() + maxMs[store];
    const counts = fc.sample(fc.integer({ min: 15, max: 120 }), { numRuns: roundsOf[store] });
    for (const [round, count] of counts.entries()) {
      if (round > 1 && performance.now() > endAt) break;
      const before = await resting.begin(moveTo(server, account));
      await loadUntilKilled(server, account, lanes, count);
      await vi.waitFor(() => expect(processesWith(before.mark)).toEqual([]));
      server = await ownInstallation.start();
      const again = moveTo(server, account);
      await before.finish(again);
      for (const lane of lanes) await lane.resolveAfterKill(again);
      await expectTrail(ownInstallation, again, lanes);
    }
  });
});

test('a session keeps the reads and the directory of calls that end at once, on one server or two', async () => {
  using directory = makeDirectory();
  await using records = await openRecords({ file: directory.at('croft.db') });
  const options = { records, accountId: 'a', agentId: 'b', name: 's', maxSessions: 9, now: () => new Date() };
  const openSandbox = () => Promise.reject(new Error('there is none'));
  const open = async () => {
    const memory = createSessionStore(options);
    const session = createSession('s', { memory, sandboxIdleMs: 1000, openSandbox });
    await memory.refresh(session);
    const read = (path: string) => session.reads.saw('w', { path, version: '1', kind: 'file', size: 1, mtimeMs: 1 });
    return { session, read, keep: () => memory.save(session) };
  };
  const one = await open();
  one.read('a');
  const first = one.keep();
  one.read('b');
  await Promise.all([first, one.keep()]);

  const two = await open();
  one.session.workingDirectory = { workspace: 'w', path: 'sub' };
  two.read('c');
  await Promise.all([two.keep(), one.keep()]);
  const { session } = await open();
  expect(Array.from(session.reads.seen, ([, path]) => path).sort()).toEqual(['a', 'b', 'c']);
  expect(session.workingDirectory).toEqual({ workspace: 'w', path: 'sub' });
});

test.runIf(process.getuid?.() === 0)('a workspace whose owner was not set before a kill gets its owner', async () => {
  await using ownInstallation = openInstallation();
  chmodSync(ownInstallation.data, 0o711);
  const account = await addAccount(await ownInstallation.start(), 'ann');
  const workspaceId = await account.newWorkspace();
  const directory = ownInstallation.at(`workspaces/${namespaceOf(account.accountId, workspaceId)}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const agent = await newAgent(account, workspaceId, 'bypass');
  mustBe(200, await account.call(agent, 'bash', { command: 'touch a' }));
  expect(statSync(directory).uid).toBeGreaterThan(0);
  expect(statSync(`${directory}/a`).uid).toBe(statSync(directory).uid);
});
