import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { defaultSandboxOptions } from '../../src/app/app.ts';
import { createRunnerOffer } from '../../src/app/offer.ts';
import type { CallHandler } from '../../src/link/calls/peer.ts';
import { serveWorkspaces } from '../../src/runner/serve-workspaces.ts';
import { connectPeers } from '../link/connect-peers.ts';
import { makeDirectory } from '../support/harness.ts';
import { unmountBelow } from '../support/mounts.ts';
import { operator, roomyLimits } from '../support/sandboxes/open-sandbox.ts';
import { asking, openLyingRunner } from './ports-fixture.ts';

const namespace = (digit: string) => `fs-${digit.repeat(40)}`;
const invalid = { code: 'E_INVALID_INPUT' };
const exists = { code: 'E_ALREADY_EXISTS' };
const never = new AbortController().signal;

/** A real runner offer, called over a link by a server that may be hostile. */
async function openOffer({ isReadOnly = false } = {}) {
  const fixture = makeDirectory({ 'outside/canary.txt': 'untouched', 'given/a.txt': 'given' });
  const made = (digit: string) => fixture.at(`root/workspaces/${namespace(digit)}`);
  mkdirSync(made('a'), { recursive: true });
  writeFileSync(`${made('a')}/a.txt`, 'one\n');
  const offer = createRunnerOffer({
    ...{ workspaces: [{ name: 'given', path: fixture.at('given') }], root: fixture.at('root') },
    ...{ data: fixture.at('data'), sandbox: { ...defaultSandboxOptions, limits: roomyLimits } },
    ...{ host: { ...operator, variables: {} }, isReadOnly, onWarning: () => {} },
  });
  const connect = async () => {
    const [server, runner] = connectPeers();
    serveWorkspaces(runner, offer);
    const ask = asking(server);
    const request = { namespace: namespace('a'), workspace: 'w', name: 'w' };
    const { place: handle } = (await ask('workspace.open', request)) as { place: string };
    return { server, runner, ask, place: handle };
  };
  const link = await connect();
  onTestFinished(async () => {
    link.server.close('over');
    await link.runner.lost;
    await offer[Symbol.asyncDispose]();
    unmountBelow(fixture.path);
    fixture[Symbol.dispose]();
  });
  const request = (digit: string) => ({
    place: link.place,
    namespace: namespace(digit),
    workspaceId: 'ws_1',
    name: 'f',
  });
  return {
    ...link,
    fixture,
    made,
    request,
    connect,
    workspaces: () => readdirSync(fixture.at('root/workspaces')).sort(),
  };
}

test('a server cannot fork to a path outside of the root, or over another fork', async () => {
  const { ask, fixture, made, request, connect, workspaces } = await openOffer();
  symlinkSync(fixture.at('outside'), made('b'));
  for (const name of ['', '..', '../outside', `${namespace('c')}/..`, `../${namespace('c')}`, namespace('C'), 7])
    await expect(ask('forks.create', { ...request('c'), namespace: name }), String(name)).rejects.toMatchObject(
      invalid,
    );
  for (const lie of [{ workspaceId: '../x' }, { name: '../x' }, { name: 'all' }, { name: 'a\nb' }, { target: '/tmp' }])
    await expect(ask('forks.create', { ...request('c'), ...lie })).rejects.toMatchObject(invalid);
  for (const digit of ['a', 'b']) await expect(ask('forks.create', request(digit))).rejects.toMatchObject(exists);
  await expect(ask('forks.create', { ...request('c'), name: 'given' })).rejects.toMatchObject(exists);
  expect(workspaces()).toEqual([namespace('a'), namespace('b')]);
  expect(readdirSync(fixture.at('outside'))).toEqual(['canary.txt']);

  expect(await ask('forks.create', request('c'))).toMatchObject({ name: 'f', workspaceId: 'ws_1' });
  await expect(ask('forks.create', request('d'))).rejects.toMatchObject(exists);
  await expect(ask('forks.create', { ...request('c'), name: 'g' })).rejects.toMatchObject(exists);
  await expect(ask('forks.forget', { place: request('c').place, name: 'f' })).rejects.toMatchObject({
    code: 'E_CONFLICT',
  });
  expect(readFileSync(`${made('c')}/a.txt`, 'utf8')).toBe('one\n');
  const other = await connect();
  const foreign = { code: 'E_NOT_FOUND' };
  await expect(other.ask('forks.create', request('e'))).rejects.toMatchObject(foreign);
  await expect(other.ask('forks.list', { place: request('e').place })).rejects.toMatchObject(foreign);
  other.server.close('over');
});

test('a read-only runner makes, merges and removes no fork', async () => {
  const { ask, place: handle, request, workspaces } = await openOffer({ isReadOnly: true });
  const refused = { code: 'E_READ_ONLY' };
  await expect(ask('forks.create', request('c'))).rejects.toMatchObject(refused);
  await expect(ask('forks.merge', { place: handle, fork: 'f', onConflict: 'theirs' })).rejects.toMatchObject(refused);
  await expect(ask('forks.forget', { place: handle, name: 'f' })).rejects.toMatchObject(refused);
  expect(workspaces()).toEqual([namespace('a')]);
});

test('a fork whose caller is gone is removed after it is made, and not during', async () => {
  const { server, ask, made, request, place: handle, fixture, workspaces } = await openOffer();
  for (let file = 0; file < 500; file += 1) writeFileSync(`${made('a')}/${file}`, 'x');
  const taken = new AbortController();
  const making = server.call('forks.create', request('c'), { signal: taken.signal }).answer;
  making.catch(() => {});
  await vi.waitFor(() => readdirSync(fixture.at(`data/forks/${namespace('c')}`)), { interval: 1 });
  const removing = ask('workspace.remove', { namespace: namespace('c') });
  taken.abort(new Error('nobody waits'));
  await expect(making).rejects.toThrow('nobody waits');
  await removing;
  expect(workspaces()).toEqual([namespace('a')]);
  expect(readdirSync(fixture.at('data/forks'))).toEqual([]);
  const again = server.call('forks.create', { ...request('c') }, {}).answer;
  expect(await ask('workspace.remove', { namespace: namespace('c') })).toEqual({ removed: true });
  expect(await again).toMatchObject({ name: 'f' });
  await ask('forks.forget', { place: handle, name: 'f' });
  expect([...workspaces(), ...readdirSync(fixture.at('data/forks'))]).toEqual([namespace('a')]);
});

test('reports of a runner about its forks are valid or refused', async () => {
  const fork = { name: 'f', workspaceId: 'ws_1', createdAt: new Date(0).toISOString() };
  const report = { added: [], changed: [], removed: [], refused: [], takenBackBy: '' };
  const merged = { report, conflicts: [], merged: [] };
  let [list, made, merge]: unknown[] = [[fork], fork, merged];
  const sending =
    (value: () => unknown): CallHandler =>
    async (_params, call) => {
      call.writable(0).end(JSON.stringify(value()));
      return null;
    };
  const has = { history: true, watch: true, transactions: true, forks: true };
  const { forks } = await openLyingRunner({
    'workspace.open': async () => ({ place: 'p', root: '/workspaces/w', access: 'read-write', has }),
    'forks.list': sending(() => list),
    'forks.merge': sending(() => merge),
    'forks.create': async () => made,
  });
  if (!forks) throw new Error('it has forks');
  const request = { namespace: namespace('a'), workspaceId: 'ws_1', name: 'f' };
  const mergeAny = () => forks.merge({ fork: 'f', onConflict: 'ours', signal: never });
  expect([await forks.list(), await forks.fork(request, never), await mergeAny()]).toEqual([[fork], fork, merged]);
  const invalidAnswer = { code: 'E_SANDBOX_UNAVAILABLE', message: expect.stringContaining('is not valid: ') };
  for (const lie of [{ name: 'a\nb' }, { name: '' }, { workspaceId: '../x' }, { createdAt: 'now' }, { name: 7 }]) {
    [list, made] = [[{ ...fork, ...lie }], { ...fork, ...lie }];
    await expect(forks.list(), JSON.stringify(lie)).rejects.toMatchObject(invalidAnswer);
    await expect(forks.fork(request, never), JSON.stringify(lie)).rejects.toMatchObject(invalidAnswer);
  }
  list = Array.from({ length: 1000 }, () => fork);
  await expect(forks.list()).rejects.toMatchObject(invalidAnswer);
  for (made of [{ ...fork, name: 'g' }, { ...fork, workspaceId: 'ws_2' }, null])
    await expect(forks.fork(request, never)).rejects.toMatchObject(invalidAnswer);
  const conflict = { path: 'a', reason: 'both changed' };
  for (const lie of [{ merged: ['../x'] }, { conflicts: [{ ...conflict, reason: 'x' }] }, { report: null }]) {
    merge = { ...merged, ...lie };
    await expect(mergeAny(), JSON.stringify(lie)).rejects.toMatchObject(invalidAnswer);
  }
});
