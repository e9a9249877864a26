import { expect, test } from 'vitest';
import { makeDirectory } from '../../../test/support/harness.ts';
import { openRecords } from '../../records/index.ts';
import type { Records } from '../accounts/ports/records.ts';
import { createSession } from './session.ts';
import { createSessionStore } from './session-store.ts';

/** A session whose row is stored, and what was stored or read since. */
async function openStored() {
  const directory = makeDirectory();
  const records = await openRecords({ file: directory.at('croft.db') });
  const counted = countUses(records);
  const options = {
    accountId: 'acc_1',
    agentId: 'agent_1',
    name: 'key_1/default',
    maxSessions: 9,
    now: () => new Date(),
  };
  const open = (serverId: string, used: Records = counted.records) => ({
    store: createSessionStore({ ...options, records: { ...used, isShared: true }, serverId }),
    session: createSession(options.name, { openSandbox: () => Promise.reject(new Error('none')), sandboxIdleMs: 1 }),
  });
  const { store, session } = open('server_1');
  await store.refresh(session, 1);
  saw(session, 'a.ts', 'b.ts');
  await store.save(session);
  await store.refresh(session, 1);
  counted.uses.length = 0;
  return {
    ...{ store, session, open, records, uses: counted.uses },
    async [Symbol.asyncDispose]() {
      await records[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
}

function saw(session: ReturnType<typeof createSession>, ...paths: string[]): void {
  for (const path of paths)
    session.reads.saw('w', { path, version: `version of ${path}`, kind: 'file', size: 1, mtimeMs: 1 });
}

function countUses(records: Records) {
  const uses: string[] = [];
  const noted =
    <Args extends unknown[], Answer>(name: string, use: (...args: Args) => Answer) =>
    (...args: Args) => {
      uses.push(name);
      return use(...args);
    };
  const counted: Records = {
    ...records,
    change: ((work) => noted('change', () => records.change(work))()) as Records['change'],
    read: ((work) => noted('read', () => records.read(work))()) as Records['read'],
    glance: ((work) => noted('glance', () => records.glance(work))()) as Records['glance'],
    recordCall: noted('recordCall', records.recordCall),
  };
  return { records: counted, uses };
}

test('a session that a call did not change is not stored, whatever the order of its reads', async () => {
  await using fixture = await openStored();
  const { store, session, uses } = fixture;
  for (const path of ['b.ts', 'a.ts', 'b.ts', 'a.ts']) {
    saw(session, path);
    expect(store.save(session)).toBeUndefined();
  }
  expect(uses).toEqual([]);
  saw(session, 'c.ts');
  await store.save(session);
  expect(uses).toEqual(['recordCall']);
});

test('a session that this server stored last is not read again until another server stores it', async () => {
  await using fixture = await openStored();
  const { store, session, uses, open, records } = fixture;
  for (let call = 0; call < 3; call += 1) await store.refresh(session, 1);
  expect(uses).toEqual([]);
  const other = open('server_2', records);
  await other.store.refresh(other.session);
  other.session.workingDirectory = { workspace: 'w', path: 'src' };
  await other.store.save(other.session);
  await store.refresh(session, 2);
  expect(session.workingDirectory).toEqual({ workspace: 'w', path: 'src' });
  // The row is now the other server's, which stores it again without a move.
  await store.refresh(session, 2);
  other.session.workingDirectory = { workspace: 'w', path: 'test' };
  await other.store.save(other.session);
  await store.refresh(session, 2);
  expect(session.workingDirectory).toEqual({ workspace: 'w', path: 'test' });
});

test('concurrent calls of one session lose no change, and are stored together', async () => {
  await using fixture = await openStored();
  const { store, session, uses, open } = fixture;
  const paths = Array.from({ length: 20 }, (_, index) => `${index}.ts`);
  await Promise.all(
    paths.map((path) => {
      saw(session, path);
      return store.save(session);
    }),
  );
  expect(uses).toEqual(['recordCall', 'recordCall']);
  const later = open('server_1');
  await later.store.refresh(later.session);
  expect([...later.session.reads.seen].map(([, path]) => path)).toEqual(['a.ts', 'b.ts', ...paths]);
});

test('a change that is taken back while it is being stored is stored again', async () => {
  await using fixture = await openStored();
  const { store, session, open } = fixture;
  session.workingDirectory = { workspace: 'w', path: 'src' };
  const storing = store.save(session);
  session.workingDirectory = undefined;
  await Promise.all([storing, store.save(session)]);
  const later = open('server_1');
  await later.store.refresh(later.session);
  expect(later.session.workingDirectory).toBeUndefined();
});
