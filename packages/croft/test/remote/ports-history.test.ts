import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createOffer } from '../../src/app/offer.ts';
import { defaultSandbox } from '../../src/app.ts';
import type { FileChange } from '../../src/core/content/change-feed.ts';
import { listFiles, runRipgrep } from '../../src/core/content/ripgrep.ts';
import type { Workspace } from '../../src/core/workspace.ts';
import { createRemoteWorkspace } from '../../src/providers/index.ts';
import { serveOffer } from '../../src/runner/serve-offer.ts';
import { shellIn } from '../contracts/sandbox.ts';
import { makeDirectory } from '../harness.ts';
import { connectPeers } from '../link/connect-peers.ts';
import { operator, roomyLimits } from '../open-sandbox.ts';
import { wish } from './ports-ground.ts';

const never = new AbortController().signal;
const call = { tool: 'bash', session: 's', title: 'a test' };
const wanted = { limits: roomyLimits, network: { mode: 'deny-all' } } as const;

/** What a runner really offers, over a link. */
async function openOffered(tree: Record<string, string> = {}) {
  const ground = makeDirectory();
  const at = (name: string) => ground.at(`work/${name}`);
  mkdirSync(ground.at('work'));
  for (const [name, content] of Object.entries(tree)) writeFileSync(at(name), content);
  const offer = createOffer({
    workspaces: [{ name: 'work', path: ground.at('work') }],
    data: ground.at('data'),
    sandbox: { ...defaultSandbox, limits: roomyLimits },
    host: { ...operator, variables: {} },
    isReadOnly: false,
    onWarning: () => {},
  });
  const [server, runner] = connectPeers();
  serveOffer(runner, offer);
  const workspace = await createRemoteWorkspace(server, wish);
  onTestFinished(async () => {
    server.close('over');
    await runner.lost;
    await offer[Symbol.asyncDispose]();
    ground[Symbol.dispose]();
  });
  const { history, transactions, watch } = workspace;
  if (!history || !transactions || !watch) throw new Error('it has all of them');
  return { ...workspace, at, server, history, transactions: transactions(wanted), watch };
}

test('snapshots are taken, told apart, gone back to and removed', async () => {
  const { history, at } = await openOffered({ 'a.txt': 'one\n' });
  const taken = await history.snapshot({ name: 'first', description: 'as it was', signal: never });
  expect(taken).toMatchObject({ name: 'first', description: 'as it was', files: 1, bytes: 4 });
  writeFileSync(at('a.txt'), 'two\n');
  writeFileSync(at('new.txt'), 'new\n');
  const changes = await history.diff({ from: 'first', signal: never });
  expect(changes.map(({ path }) => path)).toEqual(['a.txt', 'new.txt']);
  expect(changes[0]?.text).toContain('+two');
  const { report } = await history.restore({ name: 'first' }, never);
  expect(report).toMatchObject({ changed: ['a.txt'], removed: ['new.txt'] });
  expect(readFileSync(at('a.txt'), 'utf8')).toBe('one\n');
  expect((await history.snapshots()).map(({ name }) => name)).toContain('first');
  await history.remove('first');
  await expect(history.diff({ from: 'first', signal: never })).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  await expect(history.snapshot({ name: '../x', signal: never })).rejects.toMatchObject({ code: 'E_INVALID_INPUT' });
});

test('a call is recorded around its work, which is undone again', async () => {
  const { history, files, at } = await openOffered({ 'a.txt': 'one' });
  await history.record(call, async () => {});
  const answer = await history.record(call, async () => {
    await files.write('a.txt', Buffer.from('two'));
    return 7;
  });
  expect(answer).toBe(7);
  const [latest] = await history.checkpoints(10);
  expect(latest).toMatchObject({ call, paths: 1 });
  const { undone, report } = await history.undo({ count: 1 }, never);
  expect(undone.map(({ id }) => id)).toEqual([latest?.id]);
  expect(report.changed).toEqual(['a.txt']);
  expect(readFileSync(at('a.txt'), 'utf8')).toBe('one');
});

test('work that fails is recorded, and fails with its own words', async () => {
  const { history, files } = await openOffered({ 'a.txt': 'one' });
  await history.record(call, async () => {});
  const failing = history.record(call, async () => {
    await files.write('a.txt', Buffer.from('two'));
    throw new Error('of the work');
  });
  await expect(failing).rejects.toThrow('of the work');
  expect(await history.checkpoints(10)).toHaveLength(1);
});

test('what the work did counts when the link is lost in between', async () => {
  const { history, server } = await openOffered();
  const answer = await history.record(call, async () => {
    server.close('gone');
    return 'done';
  });
  expect(answer).toBe('done');
});

test('checks are learned of the tree they looked at', async () => {
  const { history, at } = await openOffered({ 'a.txt': 'green' });
  const root = await history.look();
  expect(root).toMatch(/^[0-9a-f]{64}$/);
  const check = { tool: 'run_tests', project: '.', verdict: 'passed', at: new Date().toISOString() } as const;
  await history.snapshot({ name: 'good', signal: never });
  await history.learned(check, root);
  writeFileSync(at('a.txt'), 'red');
  expect((await history.restore('green', never)).snapshot).toBeDefined();
  expect(readFileSync(at('a.txt'), 'utf8')).toBe('green');
});

test('a transaction runs on a copy, and is kept, refused or thrown away whole', async () => {
  const { transactions, at } = await openOffered({ 'a.txt': 'one' });
  const begin = (script: string) =>
    transactions.begin('session', script, async (sandbox) => (await shellIn(sandbox, script)).code, never);
  const { result, transaction } = await begin('echo two > a.txt; echo new > b.txt');
  expect(result).toBe(0);
  expect(transaction.changes.map(({ path }) => path)).toEqual(['a.txt', 'b.txt']);
  expect(readFileSync(at('a.txt'), 'utf8')).toBe('one');
  expect((await transactions.list('session')).map(({ id }) => id)).toEqual([transaction.id]);
  expect(await transactions.list('another')).toEqual([]);
  const report = await transactions.commit('session', transaction.id, never);
  expect(report).toMatchObject({ changed: ['a.txt'], added: ['b.txt'] });
  expect(readFileSync(at('a.txt'), 'utf8')).toBe('two\n');

  const second = await begin('echo three > a.txt');
  await transactions.discard('session', second.transaction.id);
  const gone = { code: 'E_NOT_FOUND' };
  await expect(transactions.commit('session', second.transaction.id, never)).rejects.toMatchObject(gone);
});

test('a transaction whose work fails leaves none, and fails with its own words', async () => {
  const { transactions } = await openOffered();
  const failing = transactions.begin('session', 't', () => Promise.reject(new Error('of the work')), never);
  await expect(failing).rejects.toThrow('of the work');
  expect(await transactions.list('session')).toEqual([]);
});

test('changes are told from when it is watched until it is not', async () => {
  const { watch, at } = await openOffered();
  const seen: FileChange[] = [];
  const controller = new AbortController();
  await watch((changes) => seen.push(...changes), controller.signal);
  writeFileSync(at('a.txt'), 'one');
  await vi.waitFor(() => expect(seen.map(({ path }) => path)).toContain('a.txt'));
  for (let index = 0; index < 1000; index++) writeFileSync(at(`many-${index}`), '');
  await vi.waitFor(() => expect(new Set(seen.map(({ path }) => path)).size).toBe(1001));
  rmSync(at('a.txt'));
  await vi.waitFor(() => expect(seen.at(-1)).toEqual({ path: 'a.txt', type: 'remove' }));
  controller.abort();
});

test('searches run where the files are', async () => {
  const offered = await openOffered({ 'a.txt': 'needle here', 'b.txt': 'nothing', 'c.md': 'needle' });
  const workspace = offered as unknown as Workspace;
  const records: string[] = [];
  const onRecord = (record: Buffer) => records.push(record.toString()) > 0;
  await runRipgrep(workspace, {
    args: ['-l', '-e', 'needle', '.'],
    scope: '',
    signal: never,
    record: 'path',
    onRecord,
  });
  expect(records.map((record) => record.replace(/^.\/|\0$/g, '')).sort()).toEqual(['a.txt', 'c.md']);
  const found: string[] = [];
  const onFiles = (files: { path: string }[]) => found.push(...files.map(({ path }) => path)) > 0;
  await listFiles(workspace, { args: [], scope: '', suffix: '.txt', signal: never, wants: () => true, onFiles });
  expect(found.sort()).toEqual(['a.txt', 'b.txt']);
  const bad = runRipgrep(workspace, { args: ['-e', '(', '.'], scope: '', signal: never, record: 'path', onRecord });
  await expect(bad).rejects.toMatchObject({ code: 'E_BAD_PATTERN' });
});

test('a search that had enough, or is taken back, ends', async () => {
  const offered = await openOffered(
    Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`f${n}`, 'x\n'.repeat(2000)])),
  );
  const workspace = offered as unknown as Workspace;
  let count = 0;
  const enough = { args: ['-e', 'x', '.'], scope: '', signal: never, record: 'path-and-line' as const };
  await runRipgrep(workspace, { ...enough, onRecord: () => ++count < 3 });
  expect(count).toBe(3);
  const controller = new AbortController();
  const taken = runRipgrep(workspace, {
    ...enough,
    signal: controller.signal,
    onRecord() {
      controller.abort(new Error('taken back'));
      return true;
    },
  });
  await expect(taken).rejects.toThrow('taken back');
});
