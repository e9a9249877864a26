import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { defaultSandboxOptions } from '../../src/app/app.ts';
import { createRunnerOffer } from '../../src/app/offer.ts';
import type { Sandbox } from '../../src/core/commands/sandbox.ts';
import type { FileChange } from '../../src/core/content/changes/change-feed.ts';
import { listFilesWithRipgrep, runRipgrep } from '../../src/core/content/search/ripgrep.ts';
import type { Workspace } from '../../src/core/workspace/workspace.ts';
import { createRemoteWorkspace } from '../../src/providers/index.ts';
import { serveWorkspaces } from '../../src/runner/serve-workspaces.ts';
import { shellIn } from '../contracts/sandbox.ts';
import { connectPeers } from '../link/connect-peers.ts';
import { makeDirectory } from '../support/harness.ts';
import { operator, roomyLimits } from '../support/sandboxes/open-sandbox.ts';
import { workspaceRequest } from './ports-fixture.ts';

const never = new AbortController().signal;
const call = { tool: 'bash', session: 's', title: 'a test' };
const wanted = { limits: roomyLimits, network: { mode: 'deny-all' } } as const;

/** The real handlers of a runner, over a link. */
async function openOffered(tree: Record<string, string> = {}) {
  const fixture = makeDirectory();
  const at = (name: string) => fixture.at(`work/${name}`);
  mkdirSync(fixture.at('work'));
  for (const [name, content] of Object.entries(tree)) writeFileSync(at(name), content);
  const offer = createRunnerOffer({
    workspaces: [{ name: 'work', path: fixture.at('work') }],
    data: fixture.at('data'),
    sandbox: { ...defaultSandboxOptions, limits: roomyLimits },
    host: { ...operator, variables: {} },
    isReadOnly: false,
    onWarning: () => {},
  });
  const [server, runner] = connectPeers();
  serveWorkspaces(runner, offer);
  const workspace = await createRemoteWorkspace(server, workspaceRequest);
  onTestFinished(async () => {
    server.close('over');
    await runner.lost;
    await offer[Symbol.asyncDispose]();
    fixture[Symbol.dispose]();
  });
  const { history, transactions, watch } = workspace;
  if (!history || !transactions || !watch) throw new Error('it has all of them');
  return { ...workspace, at, server, history, transactions: transactions(wanted), watch };
}

test('snapshots are taken, compared, restored and removed', async () => {
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

test('a call is recorded around its work, which can be undone', async () => {
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

test('earlier trees are shown: what one call changed, a directory and a file of a snapshot', async () => {
  const { history, files, at } = await openOffered({ 'a.txt': 'one\n' });
  mkdirSync(at('dir'));
  writeFileSync(at('dir/b.bin'), Buffer.from([1, 0, 255]));
  await history.snapshot({ name: 'first', signal: never });
  const named = { ...call, id: 'call_7' };
  await history.record(named, async () => void (await files.write('a.txt', Buffer.from('two\n'))));
  const { past } = history;
  const [latest] = await history.checkpoints(1);
  const { checkpoint, changes } = (await past?.diffOf(latest?.id ?? '', never)) ?? {};
  expect([checkpoint?.call, changes?.map(({ path }) => path)]).toEqual([named, ['a.txt']]);
  expect(changes?.[0]?.text).toContain('-one\n+two');
  expect((await past?.list('first', ''))?.map(({ path }) => path)).toEqual(['a.txt', 'dir']);
  expect((await past?.list('first', 'dir'))?.map(({ path }) => path)).toEqual(['dir/b.bin']);
  expect(await past?.read('first', 'dir/b.bin')).toEqual(Buffer.from([1, 0, 255]));
  expect((await past?.read('first', 'a.txt'))?.toString()).toBe('one\n');
  await expect(past?.read('first', 'dir')).rejects.toMatchObject({ code: 'E_FILE_NOT_FOUND' });
  await expect(past?.diffOf('ck_none', never)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
});

test('failing work is recorded, and fails with its own error', async () => {
  const { history, files } = await openOffered({ 'a.txt': 'one' });
  await history.record(call, async () => {});
  const failing = history.record(call, async () => {
    await files.write('a.txt', Buffer.from('two'));
    throw new Error('of the work');
  });
  await expect(failing).rejects.toThrow('of the work');
  expect(await history.checkpoints(10)).toHaveLength(1);
});

test('the work counts when the link is lost in between', async () => {
  const { history, server } = await openOffered();
  const answer = await history.record(call, async () => {
    server.close('gone');
    return 'done';
  });
  expect(answer).toBe('done');
});

const check = { tool: 'run_lint', session: 's', title: 'a test' };

test('a check gets its changed files, by hash, and has them reverted unless they changed again', async () => {
  const { history, files, at } = await openOffered({ 'a.js': 'one', 'b.js': 'one', 'same.js': 'one' });
  await history.record(call, async () => {});
  const { result, altered, unverified } = await history.recordCheck(check, async () => {
    for (const name of ['a.js', 'b.js', 'new.js']) await files.write(name, Buffer.from('two'));
    return 7;
  });
  expect([result, unverified, altered.map(({ path }) => path)]).toEqual([7, undefined, ['a.js', 'b.js']]);
  expect(altered[0]?.before).toMatchObject({ kind: 'file', size: 3, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  writeFileSync(at('b.js'), 'by a person');
  expect(await history.revertChanges(altered)).toEqual(['b.js']);
  expect(['a.js', 'b.js'].map((name) => readFileSync(at(name), 'utf8'))).toEqual(['one', 'by a person']);
  expect(await history.checkpoints(10)).toEqual([]);
});

test('the content before a change is in the layer of a transaction, and does not cross the link', async () => {
  const { history, transactions, files, at, server } = await openOffered({ 'a.js': 'as it was' });
  await history.record(call, async () => {});
  const { altered } = await history.recordCheck(check, async () => void (await files.write('a.js', Buffer.from('x'))));
  const sent = vi.spyOn(server, 'call');
  const cat = (sandbox: Sandbox) => shellIn(sandbox, 'cat a.js; stat -c %a a.js');
  const { result, transaction } = await transactions.begin('session', 'again', cat, never, altered);
  expect(result.stdout).toBe('as it was644\n');
  expect(transaction.changes.map(({ path }) => path)).toEqual(['a.js']);
  expect(readFileSync(at('a.js'), 'utf8')).toBe('x');
  expect(JSON.stringify(sent.mock.calls)).not.toContain('as it was');
  const strange = altered.map((change) => ({ ...change, before: { ...change.before, hash: 'f'.repeat(64) } }));
  // A content that is lost cannot be placed: the file is taken away there, so that nobody takes it for unchanged.
  const lost = await transactions.begin('session', 'lost', cat, never, strange as typeof altered);
  expect(lost.transaction.changes.map(({ path, after }) => [path, after])).toEqual([['a.js', undefined]]);
  expect(readFileSync(at('a.js'), 'utf8')).toBe('x');
  const many = transactions.begin('session', 'many', cat, never, Array(201).fill(altered[0]));
  await expect(many).rejects.toMatchObject({ code: 'E_INVALID_INPUT' });
});

test('more changed files than are listed count as unverified, and a failing check gives the reason', async () => {
  const names = Array.from({ length: 1001 }, (_, index) => `f${index}.js`);
  const { history, at } = await openOffered(Object.fromEntries(names.map((name) => [name, 'one'])));
  await history.record(call, async () => {});
  const all = async () => names.forEach((name) => void writeFileSync(at(name), 'two'));
  expect(await history.recordCheck(check, all)).toMatchObject({ altered: [], unverified: 'crowded' });
  await expect(history.recordCheck(check, () => Promise.reject(new Error('of the work')))).rejects.toThrow(
    'of the work',
  );
});

test('a check goes on when the link is lost in between', async () => {
  const { history, server } = await openOffered();
  const checked = await history.recordCheck(check, async () => {
    server.close('gone');
    return 'done';
  });
  expect(checked).toEqual({ result: 'done', altered: [], unverified: 'silent' });
});

test('verdicts are stored for the tree that the check saw', async () => {
  const { history, at } = await openOffered({ 'a.txt': 'green' });
  const root = await history.captureSource();
  expect(root).toMatch(/^[0-9a-f]{64}$/);
  const check = { tool: 'run_tests', project: '.', verdict: 'passed', at: new Date().toISOString() } as const;
  await history.snapshot({ name: 'good', signal: never });
  await history.recordVerdict(check, root);
  writeFileSync(at('a.txt'), 'red');
  expect((await history.restore('green', never)).snapshot).toBeDefined();
  expect(readFileSync(at('a.txt'), 'utf8')).toBe('green');
});

test('a transaction runs on a copy, and is committed, refused or discarded as a whole', async () => {
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

test('a transaction whose work fails leaves none, and fails with its own error', async () => {
  const { transactions } = await openOffered();
  const failing = transactions.begin('session', 't', () => Promise.reject(new Error('of the work')), never);
  await expect(failing).rejects.toThrow('of the work');
  expect(await transactions.list('session')).toEqual([]);
});

test('changes are reported from the start of watching to its end', async () => {
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

test('searches run on the machine with the files', async () => {
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
  const onFiles = async (files: { path: string }[]) => found.push(...files.map(({ path }) => path)) > 0;
  await listFilesWithRipgrep(workspace, {
    args: [],
    scope: '',
    suffix: '.txt',
    signal: never,
    wants: () => true,
    onFiles,
  });
  expect(found.sort()).toEqual(['a.txt', 'b.txt']);
  const bad = runRipgrep(workspace, { args: ['-e', '(', '.'], scope: '', signal: never, record: 'path', onRecord });
  await expect(bad).rejects.toMatchObject({ code: 'E_BAD_PATTERN' });
});

test('a search that is aborted, or has enough results, ends', async () => {
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
