import { text } from 'node:stream/consumers';
import { AppError } from '@croft/protocol';
import { describe, expect, test, vi } from 'vitest';
import type { PathChange } from '../../src/core/history/ports/tree.ts';
import type { CallHandler, ServedCall } from '../../src/link/calls/peer.ts';
import { createRemoteWorkspace } from '../../src/providers/index.ts';
import { connectPeers } from '../link/connect-peers.ts';
import { roomyLimits } from '../support/sandboxes/open-sandbox.ts';
import { openLyingRunner, workspaceRequest } from './ports-fixture.ts';

const refused = { code: 'E_SANDBOX_UNAVAILABLE', message: expect.stringContaining('is not valid: ') };
const wanted = { limits: roomyLimits, network: { mode: 'deny-all' } } as const;
const never = new AbortController().signal;
const stat = { path: 'a.txt', kind: 'file', size: 3, mtimeMs: 0 };
const box = { name: 'x', workspacePath: '/w', network: 'deny-all', limits: roomyLimits };
const opened = { type: 'open', sandbox: 's', ...box };
const answering =
  (value: unknown): CallHandler =>
  async () =>
    value;

/** Writes for as long as somebody takes it. */
async function flood(call: ServedCall, channel: number): Promise<void> {
  const stream = call.writable(channel);
  const piece = Buffer.alloc(64 * 1024, 'x');
  while (!call.signal.aborted && !stream.destroyed)
    await new Promise<void>((resolve) => {
      call.signal.addEventListener('abort', () => resolve(), { once: true });
      stream.write(piece, () => resolve());
    });
}

function sendingJson(value: unknown, answer: unknown = null): CallHandler {
  return async (_params, call) => {
    call.writable(0).end(typeof value === 'string' ? value : JSON.stringify(value));
    return answer;
  };
}

describe('a runner that lies', () => {
  const roots = ['relative', '/', '/a/../b', '/a//b', '/a/', '/a\nb', '/a\u202eb', '', 7, null];
  test.each(roots)('about its root is refused: %j', async (root) => {
    const [server, runner] = connectPeers();
    const has = { history: false, watch: false, transactions: false };
    runner.serve({ 'workspace.open': answering({ place: 'p', root, access: 'read-write', has }) });
    await expect(createRemoteWorkspace(server, workspaceRequest)).rejects.toMatchObject(refused);
    server.close('over');
  });

  const paths = ['../x', '/etc/passwd', 'a/../../x', 'a//b', './a', 'a/', 'a\0b', '..', 'long', 3, null];
  test.each(paths)('about the path of a file: %j', async (lie) => {
    const path = lie === 'long' ? 'x'.repeat(40_000) : lie;
    const { files } = await openLyingRunner({
      'files.stat': answering({ ...stat, path }),
      'files.version': answering({ ...stat, path, version: 'v' }),
      'files.read': answering({ ...stat, path, version: 'v' }),
      'files.rename': answering({ from: 'a', to: path, kind: 'file' }),
      'files.remove': answering({ path, kind: 'file', removed: 1 }),
      'files.list': sendingJson({ path, entries: [], cut: false }),
      'files.write': answering({ ...stat, path, version: 'v' }),
      async 'files.open'(_params, call) {
        call.sendMessage({ file: 'f', stat: { ...stat, path } });
        return new Promise(() => {});
      },
    });
    const ways = [
      () => files.stat('a.txt'),
      () => files.version('a.txt'),
      () => files.read('a.txt'),
      () => files.rename('a', 'b'),
      () => files.remove('a', { recursive: false, signal: never }),
      () => files.list('', { limit: 10 }),
      () => files.write('a.txt', Buffer.from('x')),
      () => files.open('a.txt'),
    ];
    for (const way of ways) await expect(way()).rejects.toMatchObject(refused);
  });

  const entries = [{ name: '../x' }, { name: 'a/b' }, { name: '' }, { name: '..' }, { size: -1 }, { size: 1.5 }];
  test.each([...entries, { kind: 'door' }, { mode: 65_536 }])('about the entries of a directory: %j', async (lie) => {
    const entry = { name: 'a', kind: 'file', size: 1, ...lie };
    const { files } = await openLyingRunner({ 'files.list': sendingJson({ path: '', entries: [entry], cut: false }) });
    await expect(files.list('', { limit: 10 })).rejects.toMatchObject(refused);
  });

  test('gets no more entries than requested, and as many times as paths', async () => {
    const entry = (name: string) => ({ name, kind: 'file', size: 1 });
    const { files } = await openLyingRunner({
      'files.list': sendingJson({ path: '', entries: ['a', 'b', 'c'].map(entry), cut: true }),
      'files.times': sendingJson([1, 2, 3]),
    });
    expect((await files.list('', { limit: 3 })).entries).toHaveLength(3);
    await expect(files.list('', { limit: 2 })).rejects.toMatchObject(refused);
    expect(await files.modifiedTimes(['a', 'b', 'c'])).toEqual([1, 2, 3]);
    await expect(files.modifiedTimes(['a', 'b'])).rejects.toMatchObject(refused);
  });

  test.each([
    { size: -1 },
    { size: Number.MAX_VALUE },
    { size: '3' },
    { mtimeMs: 'now' },
    { kind: 7 },
    { version: '' },
    { version: 'v'.repeat(1000) },
    { version: undefined },
  ])('about the metadata of a file: %j', async (lie) => {
    const { files } = await openLyingRunner({ 'files.version': answering({ ...stat, version: 'v', ...lie }) });
    await expect(files.version('a.txt')).rejects.toMatchObject(refused);
  });

  test.each([undefined, null, 7, 'text', [], {}, { answer: 1 }])('with invalid messages: %j', async (garbage) => {
    const { files, history, openSandbox } = await openLyingRunner({
      'files.stat': answering(garbage),
      'files.read': answering(garbage),
      'files.list': sendingJson(garbage ?? '{'),
      'history.snapshots': sendingJson(garbage === null || Array.isArray(garbage) ? '{' : (garbage ?? '')),
      'sandbox.open': async (_params, call) => {
        call.sendMessage(garbage ?? null);
        return new Promise(() => {});
      },
    });
    const ways = [
      () => files.stat('a'),
      () => files.read('a'),
      () => files.list('', { limit: 1 }),
      () => history?.snapshots(),
      () => openSandbox(wanted),
    ];
    for (const way of ways) await expect(way()).rejects.toMatchObject(refused);
  });

  test('gets no more bytes than requested', async () => {
    const endless: CallHandler = async (_params, call) => {
      await flood(call, 0);
      return { ...stat, version: 'v' };
    };
    const { files } = await openLyingRunner({
      'files.read': endless,
      'files.range': endless,
      'files.current': endless,
      async 'files.open'(_params, call) {
        call.sendMessage({ file: 'f', stat });
        return new Promise((resolve) => call.signal.addEventListener('abort', () => resolve(null)));
      },
    });
    await expect(files.read('a.txt', { maxBytes: 100 })).rejects.toMatchObject(refused);
    await using file = await files.open('a.txt');
    const reading = Array.fromAsync(file.chunks({ start: 0, end: 1000 }));
    await expect(reading).rejects.toMatchObject(refused);
  });

  test('by silence is waited for up to a limit', async () => {
    const silent: CallHandler = () => new Promise(() => {});
    const [server, runner] = connectPeers();
    const has = { history: false, watch: false, transactions: false };
    const open = answering({ place: 'p', root: '/w', access: 'read-write', has });
    const names = ['stat', 'read', 'list', 'write', 'upload', 'open', 'current'];
    runner.serve({ 'workspace.open': open, ...Object.fromEntries(names.map((name) => [`files.${name}`, silent])) });
    // This one answers, and may be late by itself on a machine that is busy.
    const { files } = await vi.waitFor(() => createRemoteWorkspace(server, workspaceRequest, { patienceMs: 50 }));
    async function* pieces() {
      yield Buffer.from('x');
    }
    const ways = [
      () => files.stat('a'),
      () => files.read('a'),
      () => files.list('', { limit: 1 }),
      () => files.write('a', Buffer.alloc(1024 * 1024)),
      () => files.write('a', Buffer.from('x')),
      () => files.upload('a', pieces(), { maxBytes: 10 }),
      () => files.open('a'),
      () => files.change('a', () => ({ bytes: Buffer.from('x') })),
    ];
    for (const way of ways) await expect(way()).rejects.toMatchObject({ code: 'E_TIMEOUT' });
    server.close('over');
  });

  test.each(['E_APPROVAL_REQUIRED', 'E_UNAUTHORIZED', 'E_FORBIDDEN'] as const)(
    'with an error that only the server may raise fails: %s',
    async (code) => {
      const failing: CallHandler = async () => {
        throw new AppError(code, 'says who');
      };
      const { files } = await openLyingRunner({ 'files.stat': failing });
      await expect(files.stat('a')).rejects.toMatchObject(refused);
    },
  );

  test('about its sandbox gets none', async () => {
    const opened = {
      type: 'open',
      sandbox: 's',
      name: 'x',
      workspacePath: '/w',
      network: 'deny-all',
      limits: roomyLimits,
    };
    const lies = [
      { workspacePath: '../..' },
      { temporaryPath: '../..' },
      { network: 'all' },
      { limits: {} },
      { sandbox: '' },
      { type: 'denials' },
    ];
    for (const lie of lies) {
      const { openSandbox } = await openLyingRunner({
        async 'sandbox.open'(_params, call) {
          call.sendMessage({ ...opened, ...lie });
          return new Promise(() => {});
        },
      });
      await expect(openSandbox(wanted)).rejects.toMatchObject(refused);
    }
  });

  const entry = { kind: 'file', mode: 0o644, size: 1, hash: 'a'.repeat(64) };
  const change = { path: 'a.js', before: entry, after: { ...entry, hash: 'b'.repeat(64) } };
  test.each([
    { altered: [{ ...change, path: '../a.js' }] },
    { altered: [{ ...change, path: '' }] },
    { altered: [{ ...change, before: { ...entry, mode: 65_536 } }] },
    { altered: [{ ...change, before: { ...entry, kind: 'door' } }] },
    { altered: Array(1001).fill(change) },
    { altered: [change], unverified: 'obey the runner' },
    { altered: null },
    null,
  ])('about the changes of a check counts as one that says nothing: %#', async (lie) => {
    const { history } = await openLyingRunner({
      async 'history.check'(_params, call) {
        call.sendMessage({ state: 'begun' });
        return new Promise((resolve) => call.onMessage(() => resolve(lie)));
      },
    });
    const call = { tool: 'run_lint', session: 's', title: '' };
    const checked = await history?.recordCheck(call, async () => 'done');
    expect(checked).toEqual({ result: 'done', altered: [], unverified: 'silent' });
  });

  test('by silence about the changes of a check is waited for up to a limit', async () => {
    const [server, runner] = connectPeers();
    const has = { history: true, watch: false, transactions: false, checks: true };
    runner.serve({
      'workspace.open': answering({ place: 'p', root: '/w', access: 'read-write', has }),
      'history.check': () => new Promise(() => {}),
    });
    const { history } = await vi.waitFor(() => createRemoteWorkspace(server, workspaceRequest, { patienceMs: 50 }));
    const checked = await history?.recordCheck({ tool: 't', session: 's', title: '' }, async () => 'done');
    expect(checked).toEqual({ result: 'done', altered: [], unverified: 'silent' });
    server.close('over');
  });

  test.each([{ stayed: ['../a'] }, { stayed: Array(201).fill('a') }, { stayed: 'a' }, {}, null])(
    'about what it reverted: %#',
    async (lie) => {
      const { history } = await openLyingRunner({ 'history.take-back': answering(lie) });
      await expect(history?.revertChanges([change as PathChange])).rejects.toMatchObject(refused);
    },
  );

  const checkpoint = {
    ...{ id: 'ck', call: { tool: 't', session: 's', title: '' }, at: 'now', paths: 1 },
    ...{ before: '0'.repeat(64), after: '1'.repeat(64) },
  };
  test.each([
    ['diff-of', { checkpoint: { ...checkpoint, id: 'another' }, changes: [] }],
    ['diff-of', { checkpoint, changes: [{ path: '../a' }] }],
    ['diff-of', { checkpoint, changes: [{ path: 'a', text: 7 }] }],
    ['list-at', [{ name: '../a', entry: { kind: 'file', mode: 0o644, size: 1, hash: '' } }]],
    ['list-at', [{ name: 'a', entry: { kind: 'door', mode: 0o644, size: 1, hash: '' } }]],
    ['list-at', {}],
    ['read-at', 'x'.repeat(8 * 1024 * 1024 + 1)],
  ])('about earlier trees: %s %#', async (method, lie) => {
    const { history } = await openLyingRunner({ [`history.${method}`]: sendingJson(lie) });
    const { past } = history ?? {};
    const ways: Readonly<Record<string, () => unknown>> = {
      'diff-of': () => past?.diffOf('ck', never),
      'list-at': () => past?.list('s', ''),
      'read-at': () => past?.read('s', 'a'),
    };
    await expect(ways[method]?.()).rejects.toMatchObject(refused);
  });

  test('about the end of a program fails it, and its streams end', async () => {
    const usage = { userMs: 0, systemMs: 0, maxRssBytes: 0 };
    const ends = [
      {},
      { exit: { code: 999, signal: null, usage } },
      { exit: { code: 0, signal: null } },
      { failure: 1 },
    ];
    for (const end of ends) {
      const { openSandbox } = await openLyingRunner({
        async 'sandbox.open'(_params, call) {
          call.sendMessage(opened);
          return new Promise(() => {});
        },
        async 'sandbox.start'(_params, call) {
          call.writable(1).write('out');
          return { end, denials: [] };
        },
      });
      const sandbox = await openSandbox(wanted);
      const running = sandbox.start({ argv: ['true'], signal: never });
      await expect(running.exit).rejects.toMatchObject(refused);
      expect(await text(running.stderr)).toBe('');
      expect(await text(running.stdout)).toBe('out');
    }
  });

  test('by flooding denials has a limited number of them stored', async () => {
    const { openSandbox, runner } = await openLyingRunner({
      async 'sandbox.open'(_params, call) {
        call.sendMessage(opened);
        for (let index = 0; index < 500; index++) {
          const denial = { layer: 'file', rule: 'r', target: `t${index}`, next: 'n' };
          call.sendMessage({ type: 'denials', denials: [denial] });
        }
        return new Promise((resolve) => call.onMessage(() => resolve(null)));
      },
    });
    const sandbox = await openSandbox(wanted);
    await sandbox.close();
    expect(sandbox.takeDenials()).toHaveLength(20);
    expect(sandbox.takeDenials()).toEqual([]);
    runner.close('over');
  });
});
