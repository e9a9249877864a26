import { writeFileSync } from 'node:fs';
import { AppError } from '@croft/protocol';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { CodeMode, ServerUse } from '../../src/core/code/ports/language-servers.ts';
import type { CallHandler, Peer } from '../../src/link/calls/peer.ts';
import { createRemoteWorkspace } from '../../src/providers/index.ts';
import { serveWorkspaces } from '../../src/runner/serve-workspaces.ts';
import { connectPeers } from '../link/connect-peers.ts';
import { makeDirectory } from '../support/harness.ts';
import { operator, roomyLimits } from '../support/sandboxes/open-sandbox.ts';
import { startLinkEndpoint } from './link-endpoint.ts';
import { openOffer } from './offer-fixture.ts';
import { asking, offerDirectory, openLyingRunner, workspaceRequest } from './ports-fixture.ts';
import { openServerOf, startRunnerOf } from './remote-app.ts';

const never = { signal: new AbortController().signal };
const invalidAnswer = { code: 'E_SANDBOX_UNAVAILABLE', message: expect.stringContaining('is not valid: ') };
const invalid = { code: 'E_INVALID_INPUT' };

/** A runner that answers questions about code with these values. */
async function openLiar(values: Readonly<Record<string, unknown>>) {
  const has = { history: false, watch: false, transactions: false, code: true };
  const open: CallHandler = async () => ({ place: 'p', root: '/workspaces/w', access: 'read-write', has });
  const handlers = Object.entries(values).map(([name, value]): [string, CallHandler] => [
    `code.${name}`,
    async (_params, call) => {
      call.writable(0).end(typeof value === 'string' ? value : JSON.stringify(value));
      return null;
    },
  ]);
  const { code } = await openLyingRunner({ 'workspace.open': open, ...Object.fromEntries(handlers) });
  if (!code) throw new Error('it answers no questions');
  return code('full');
}

describe('a runner that lies about code', () => {
  const handle = { path: 'a.ts', line: 1, col: 1, text: '' };
  const found = { at: 'a', items: [handle], precision: 'server', complete: true, notes: [] };
  const page = { ...found, total: 1, start: 0 };
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };
  const target = { path: 'a.ts', word: 'a', position: range.start };
  const edit = { path: 'a.ts', edits: [{ range, newText: '' }] };
  const node = { ...handle, name: '', kind: '', depth: 1, isRepeated: false, isExternal: false };

  test('is believed when it does not', async () => {
    const code = await openLiar({ definitions: found, rename: { target, complete: true, files: [edit], moves: [] } });
    expect(await code.definitions({ of: 'definitions', withBody: false }, never)).toEqual(found);
    expect(await code.rename({ newName: 'b' }, never)).toMatchObject({ files: [edit] });
  });

  test.each(['../x', '/etc/passwd', 'a//b', '', 'x'.repeat(40_000), 7])('with the path %j', async (path) => {
    const code = await openLiar({
      definitions: { ...found, items: [{ ...handle, path }] },
      calls: { target, complete: true, nodes: [{ ...node, path }] },
      diagnostics: { path, isAsked: 1 },
      rename: { target, complete: true, files: [{ ...edit, path }], moves: [] },
      move: { files: [], moves: [{ from: 'a', to: path }] },
      actions: [{ title: '', kind: '', edits: { files: [{ ...edit, path }], moves: [] } }],
    });
    await expect(code.definitions({ of: 'definitions', withBody: false }, never)).rejects.toMatchObject(invalidAnswer);
    await expect(code.calls({ direction: 'in', depth: 1 }, never)).rejects.toMatchObject(invalidAnswer);
    await expect(code.diagnostics({ path: 'a.ts' }, never)).rejects.toMatchObject(invalidAnswer);
    await expect(code.rename({ newName: 'b' }, never)).rejects.toMatchObject(invalidAnswer);
    await expect(code.move({ from: 'a', to: 'b' }, never)).rejects.toMatchObject(invalidAnswer);
    await expect(code.actions({ file_path: 'a.ts', line: 1 }, never)).rejects.toMatchObject(invalidAnswer);
  });

  test.each([
    ['more places than were asked for', { ...page, items: [handle, handle] }],
    ['a line of 100 kB', { ...page, items: [{ ...handle, text: 'x'.repeat(100_000) }] }],
    ['no JSON', 'no'],
    ['5 MB', ' '.repeat(5 * 1024 * 1024)],
  ])('with %s', async (_, references) => {
    const code = await openLiar({ references });
    await expect(code.references({ withDeclaration: true, limit: 1 }, never)).rejects.toMatchObject(invalidAnswer);
  });

  test('with 25,000 edits', async () => {
    const files = [{ path: 'a.ts', edits: Array(25_000).fill(edit.edits[0]) }];
    const code = await openLiar({ rename: { target, complete: true, files, moves: [] } });
    await expect(code.rename({ newName: 'b' }, never)).rejects.toMatchObject(invalidAnswer);
  });

  test('with an error that only a server has', async () => {
    const { code } = await openLyingRunner({
      'workspace.open': async () => ({
        ...{ place: 'p', root: '/workspaces/w', access: 'read-write' },
        has: { history: false, watch: false, transactions: false, code: true },
      }),
      'code.hover': async () => {
        throw new AppError('E_APPROVAL_REQUIRED', 'a person has to agree');
      },
    });
    await expect(code?.('full').hover({}, never)).rejects.toMatchObject(invalidAnswer);
  });
});

/** The index of a runner that answers with these values. */
async function openLyingIndex(values: Readonly<Record<string, unknown>>) {
  const has = { history: false, watch: false, transactions: false, codeIndex: true };
  const handlers = Object.entries(values).map(([name, value]): [string, CallHandler] => [
    `code-index.${name}`,
    async (_params, call) => {
      call.writable(0).end(JSON.stringify(value));
      return null;
    },
  ]);
  const { codeIndex } = await openLyingRunner({
    'workspace.open': async () => ({ place: 'p', root: '/workspaces/w', access: 'read-write', has }),
    ...Object.fromEntries(handlers),
  });
  if (!codeIndex) throw new Error('it has no index');
  return codeIndex;
}

describe('a runner whose index lies', () => {
  const hit = { path: 'a.ts', line: 1, kind: 'function', name: 'a', text: 'function a()', score: 1 };
  const found = { hits: [hit], rarity: [1], texts: ['b.md'], stale: [] };
  const query = { terms: [{ forms: ['a'], isLiteral: false }], joined: 'a', name: 'a' };
  const question = { query, scope: '' };
  const symbol = { path: 'a.ts', line: 1, kind: 'function', name: 'a', signature: 'function a()' };
  const { signal } = never;

  test('is believed when it does not, and may have no answer', async () => {
    const honest = await openLyingIndex({ search: found, map: { symbols: [symbol], isComplete: true } });
    expect(await honest.search(question, signal)).toEqual(found);
    expect(await honest.map({ focus: [], limit: 10 }, signal)).toEqual({ symbols: [symbol], isComplete: true });
    const silent = await openLyingIndex({ search: null, map: null });
    expect(await silent.search(question, signal)).toBeUndefined();
    expect(await silent.map({ focus: [], limit: 10 }, signal)).toBeUndefined();
  });

  test.each([
    ['a path outside', { ...found, hits: [{ ...hit, path: '../a' }] }],
    ['a file outside that the server would read', { ...found, stale: ['/etc/passwd'] }],
    ['a text outside that the server would read', { ...found, texts: ['a/../../b'] }],
    ['more hits than there can be', { ...found, hits: Array(1000).fill(hit) }],
    ['more files to read than there can be', { ...found, stale: Array(1000).fill('a') }],
    ['a line of 100 kB', { ...found, hits: [{ ...hit, text: 'x'.repeat(100_000) }] }],
    ['a score that is no number', { ...found, hits: [{ ...hit, score: 'best' }] }],
  ])('with %s', async (_, search) => {
    const index = await openLyingIndex({ search });
    await expect(index.search(question, signal)).rejects.toMatchObject(invalidAnswer);
  });

  test.each([
    ['a path outside', { symbols: [{ ...symbol, path: '../a' }], isComplete: true }],
    ['more definitions than there can be', { symbols: Array(6000).fill(symbol), isComplete: true }],
  ])('with a map of %s', async (_, map) => {
    const index = await openLyingIndex({ map });
    await expect(index.map({ focus: [], limit: 10 }, signal)).rejects.toMatchObject(invalidAnswer);
  });
});

/** The two ends of a link to a real offer of this directory. */
async function openLink(more: { code?: CodeMode } = {}) {
  const { offer, fixture } = await openOffer(more);
  const [server, runner] = connectPeers();
  serveWorkspaces(runner, offer);
  onTestFinished(() => server.close('over'));
  const ask = asking(server);
  const { place: handle } = (await ask('workspace.open', workspaceRequest)) as { place: string };
  return { ask, place: handle, server, runner, fixture };
}

describe('a server that asks too much about code', () => {
  test.each([
    ['definitions', { of: 'definitions', withBody: false, more: true }],
    ['definitions', { of: 'everything', withBody: false }],
    ['definitions', { of: 'definitions', withBody: false, line: -1 }],
    ['definitions', { of: 'definitions', withBody: false, symbol: 'x'.repeat(2000) }],
    ['references', { withDeclaration: true, limit: 100_000 }],
    ['calls', { direction: 'in', depth: 50 }],
    ['diagnostics', { path: 'x'.repeat(5000) }],
  ])('with %s %j is refused', async (name, question) => {
    const { ask, place: handle } = await openLink();
    await expect(ask(`code.${name}`, { place: handle, mode: 'full', question })).rejects.toMatchObject(invalid);
  });

  test.each([
    ['search', { query: { terms: [], joined: '' }, scope: '' }],
    ['search', { query: { terms: [{ forms: ['a'], isLiteral: false }], joined: 'a' }, scope: '../..' }],
    ['search', { query: { terms: [{ forms: ['x'.repeat(2000)], isLiteral: false }], joined: '' }, scope: '' }],
    ['map', { focus: [], limit: 1e9 }],
  ])('with code-index.%s %j is refused', async (name, question) => {
    const { ask, place } = await openLink();
    await expect(ask(`code-index.${name}`, { place, question })).rejects.toMatchObject(invalid);
  });

  test('gets no index of a runner with --code off', async () => {
    const { ask, place } = await openLink({ code: 'off' });
    const map = ask('code-index.map', { place, question: { focus: [], limit: 10 } });
    await expect(map).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  });

  test('gets nothing of a path outside, of another mode, or of another link', async () => {
    const { ask, place: handle, fixture } = await openLink();
    writeFileSync(fixture.at('outside.ts'), 'export const secret = 1;\n');
    const outside = { code: 'E_SANDBOX_VIOLATION' };
    for (const path of ['../outside.ts', '/etc/passwd']) {
      const at = { file_path: path, line: 1, col: 14 };
      await expect(ask('code.hover', { place: handle, mode: 'full', question: at })).rejects.toMatchObject(outside);
      const moved = { place: handle, mode: 'full', question: { from: path, to: 'in.ts' } };
      await expect(ask('code.move', moved)).rejects.toMatchObject(outside);
      await expect(ask('code.diagnostics', { place: handle, mode: 'full', question: { path } })).rejects.toMatchObject(
        outside,
      );
    }
    await expect(ask('code.hover', { place: handle, mode: 'off', question: {} })).rejects.toMatchObject(invalid);
    await expect(ask('code.hover', { place: 'other', mode: 'full', question: {} })).rejects.toMatchObject({
      code: 'E_NOT_FOUND',
    });
  });

  test.each([
    ['safe', /gopls is off in the mode safe: gopls runs the go command/],
    ['off', /this workspace has no language servers: on its runner, they are off here \(--code off\)/],
  ] as const)('in the mode full gets that of a runner with --code %s', async (code, words) => {
    const { ask, place: handle, fixture } = await openLink({ code });
    writeFileSync(fixture.at('work/a.go'), 'package a\n');
    const question = { file_path: 'a.go', line: 1, col: 9 };
    await expect(ask('code.hover', { place: handle, mode: 'full', question })).rejects.toMatchObject({
      ...{ code: 'E_NO_SERVER', message: expect.stringMatching(words) },
    });
  });
});

/** A link to a runner on which questions about code take for ever. */
async function openEndless() {
  const fixture = makeDirectory();
  const asked = Promise.withResolvers<ServerUse>();
  const endless = async (_: unknown, use: ServerUse): Promise<never> => {
    use.onActivity?.(() => 'reads the project');
    asked.resolve(use);
    return new Promise((_resolve, reject) => use.signal.addEventListener('abort', () => reject(use.signal.reason)));
  };
  const offered = offerDirectory(fixture.path);
  const code = () => ({ hover: endless }) as never;
  const [server, runner] = connectPeers();
  serveWorkspaces(runner, { open: async () => ({ ...offered, code }), remove: async () => false });
  const workspace = await createRemoteWorkspace(server, workspaceRequest);
  onTestFinished(() => {
    server.close('over');
    offered[Symbol.dispose]();
    fixture[Symbol.dispose]();
  });
  const hover = (use: ServerUse) => workspace.code?.('full').hover({ symbol: 'a' }, use);
  return { hover, asked: asked.promise, runner };
}

describe('a question that takes long', () => {
  test('says what it waits for, and ends on the runner when its caller gives up', async () => {
    const { hover, asked } = await openEndless();
    const [stop, onActivity] = [new AbortController(), vi.fn()];
    const answer = hover({ signal: stop.signal, onActivity });
    const use = await asked;
    await vi.waitFor(() =>
      expect(onActivity.mock.calls.map(([activity]) => activity())).toEqual(['reads the project']),
    );
    stop.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
    await vi.waitFor(() => expect(use.signal.aborted).toBe(true));
  });

  test('fails at once when the link is lost', async () => {
    const { hover, asked, runner } = await openEndless();
    const answer = hover(never);
    const use = await asked;
    runner.close('gone');
    await expect(answer).rejects.toMatchObject({ code: 'E_RUNNER_LOST' });
    await vi.waitFor(() => expect(use.signal.aborted).toBe(true));
  });
});

/** The link to a runner of a release that answered no questions about code. */
function olderRelease(peer: Peer): Peer {
  return {
    ...peer,
    call(method, params, options) {
      if (method.startsWith('code.')) throw new Error(`the runner does not know ${method}`);
      const call = peer.call(method, params, options);
      if (method !== 'workspace.open') return call;
      const answer = call.answer.then((opened) => {
        const { has, ...rest } = opened as { has: Record<string, unknown> };
        const { code: _, codeIndex: _index, ...older } = has;
        return { ...rest, has: older };
      });
      return { ...call, answer };
    },
  };
}

test('a runner of an older release answers by text, and the answer says why', async () => {
  const fixture = makeDirectory({ 'work/a.ts': 'export const one = 1;\nexport const two = one;\n' });
  const endpoint = await startLinkEndpoint();
  const { token, peer } = endpoint.expect();
  const options = {
    ...{ workspaces: [{ name: 'workspace', path: fixture.at('work') }], readOnly: false, data: fixture.at('data') },
    sandbox: { provider: 'bubblewrap', readable: [], network: { mode: 'deny-all' }, limits: roomyLimits },
    ...{ host: { ...operator, variables: {} }, onWarning() {} },
  } as const;
  const runner = startRunnerOf(options, { url: endpoint.url, token });
  const app = await openServerOf(options, olderRelease(await peer), fixture.at('work'));
  const session = app.newSession('s');
  const answer = await app.toolbox.call('find_definition', { symbol: 'one' }, { session, ...never });
  expect(answer.structured).toMatchObject({ precision: 'text', items: [{ path: 'a.ts', line: 1 }] });
  expect(answer.text).toMatch(/no language servers: its runner has an older release, which has none: update it/);
  const question = { file_path: 'a.ts', line: 2, col: 20 };
  await expect(app.toolbox.call('hover', question, { session, ...never })).rejects.toMatchObject({
    code: 'E_NO_SERVER',
  });
  await app[Symbol.asyncDispose]();
  await runner[Symbol.asyncDispose]();
  await endpoint[Symbol.asyncDispose]();
  fixture[Symbol.dispose]();
});
