import { once } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { AppError } from '@croft/protocol';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createOffer } from '../../src/app/offer.ts';
import type { WorkspaceRecord } from '../../src/app/places.ts';
import { createFleet } from '../../src/app/runners/fleet.ts';
import { createFleetPlaces } from '../../src/app/runners/fleet-places.ts';
import type { RunnerLink } from '../../src/app/runners/runner-link.ts';
import { createRunnerSocket } from '../../src/app/runners/runner-socket.ts';
import { createSandboxRoom } from '../../src/app/runners/sandbox-room.ts';
import type { RunnerToken } from '../../src/core/accounts/registry.ts';
import type { Sandbox } from '../../src/core/commands/sandbox.ts';
import type { Handler } from '../../src/link/peer.ts';
import { serveUpgrades } from '../../src/rest/upgrades.ts';
import { startPlatform } from '../agents/ground.ts';
import { makeDirectory } from '../harness.ts';
import { connectPeers } from '../link/connect-peers.ts';
import { report, startDialling, startLinkServer } from '../link/link-server.ts';
import { operator, roomyLimits } from '../open-sandbox.ts';
import { newToken } from './ground.ts';
import { openLying, wish } from './ports-ground.ts';

const never = new AbortController().signal;
const wanted = { limits: roomyLimits, network: { mode: 'deny-all' } } as const;
const now = () => new Date();

/** As deep as it can be sent. */
function nest(depth: number): unknown {
  let inner: unknown = 'x';
  for (let index = 0; index < depth; index += 1) inner = [inner];
  return inner;
}

test('what a runner says of a program that failed is cleaned, and not deeper than anybody can print', async () => {
  const failure = { code: 'E_NOT_RUNNING', message: 'red \u001b[31mtext\u0007', details: { deep: nest(1000) } };
  const { openSandbox } = await openLying({
    'sandbox.open': async (_params, call) => {
      const about = { name: 'none', workspacePath: '/workspaces/w', network: 'deny-all', limits: roomyLimits };
      call.tell({ type: 'open', sandbox: 's', ...about });
      return new Promise(() => {});
    },
    'sandbox.start': async () => ({ end: { failure }, denials: [] }),
  });
  const sandbox = await openSandbox(wanted);
  const { exit } = sandbox.start({ argv: ['true'], signal: never });
  const error = (await exit.catch((thrown) => thrown)) as AppError;
  expect(error).toMatchObject({ code: 'E_NOT_RUNNING', message: 'red text' });
  expect(JSON.stringify(error.details).length).toBeLessThan(100);
});

test('changes that a runner tells of byte by byte are not copied anew with each byte', async () => {
  const done = Promise.withResolvers<void>();
  const { watch } = await openLying({
    'workspace.watch': async (_params, call) => {
      call.tell({ isWatching: true });
      const write = (text: string) => new Promise((resolve) => call.writable(0).write(text, resolve));
      for (let index = 0; index < 4000; index += 1) await write(' ');
      await write('[{"path":"a","type":"write"}]\n');
      return new Promise(() => {});
    },
  });
  const concat = vi.spyOn(Buffer, 'concat');
  onTestFinished(() => concat.mockRestore());
  await watch?.(() => done.resolve(), never);
  await done.promise;
  const copied = concat.mock.calls.flatMap(([pieces]) => pieces).reduce((sum, { length }) => sum + length, 0);
  expect(copied).toBeLessThan(2_000_000);
});

test('a listing that is longer than what was asked for can be is not even parsed', async () => {
  const sending: Handler = async (_params, call) => {
    call.writable(0).end(JSON.stringify(Array.from({ length: 200_000 }, () => 1)));
    return null;
  };
  const { files } = await openLying({ 'files.list': sending, 'files.times': sending });
  const refused = { code: 'E_SANDBOX_UNAVAILABLE', message: expect.stringContaining('bytes that were asked for') };
  await expect(files.list('', { limit: 10 })).rejects.toMatchObject(refused);
  await expect(files.modifiedTimes(['a'])).rejects.toMatchObject(refused);
});

async function openOffered(more: { capacity?: number; isReadOnly?: boolean }) {
  const ground = makeDirectory({ 'work/a.txt': 'as it was' });
  const offer = createOffer({
    ...{ workspaces: [{ name: 'work', path: ground.at('work') }], data: ground.at('data') },
    sandbox: { provider: 'bubblewrap', readable: [], network: { mode: 'deny-all' }, limits: roomyLimits },
    ...{ host: { ...operator, variables: {} }, isReadOnly: false, onWarning() {}, ...more },
  });
  onTestFinished(async () => {
    await offer[Symbol.asyncDispose]();
    ground[Symbol.dispose]();
  });
  return { offer, offered: await offer.open(wish), ground };
}

test('a runner takes no more sandboxes than its operator said, whatever a server asks', async () => {
  const { offer, offered } = await openOffered({ capacity: 2 });
  const { openSandbox } = offered;
  const opened = await Promise.allSettled([1, 2, 3].map(() => openSandbox(wanted)));
  const open = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])) as [Sandbox, Sandbox];
  expect(open).toHaveLength(2);
  await expect(openSandbox(wanted)).rejects.toMatchObject({ code: 'E_SANDBOX_UNAVAILABLE' });
  await open[0].close();
  const next = await openSandbox(wanted);
  await Promise.all([open[1].close(), next.close()]);
  expect(offer.load()).toBe(0);
});

test('a server makes no directory of its own choice by what it says of a bucket', async () => {
  using ground = makeDirectory();
  const [, runner] = connectPeers();
  const bucket = { objects: 'any', mark: 'any', onOutage: 'refuse' } as const;
  const [good, bad] = [`fs-${'0'.repeat(40)}`, '../../outside'];
  mkdirSync(ground.at('work'));
  const offered = {
    sandbox: { provider: 'bubblewrap', readable: [], network: { mode: 'deny-all' }, limits: roomyLimits },
    ...{ data: ground.at('data'), host: { ...operator, variables: {} }, isReadOnly: false, onWarning() {} },
  } as const;
  await using making = createOffer({ ...offered, workspaces: [], root: ground.at('root') });
  await using named = createOffer({ ...offered, workspaces: [{ name: 'work', path: ground.at('work') }] });
  const ask = (offer: typeof making, namespace: string) => offer.on(runner).open({ ...wish, namespace, bucket });
  await expect(ask(making, bad)).rejects.toMatchObject({ code: 'E_INVALID_INPUT' });
  // What is in a bucket is no directory that an operator gave, whatever it is called.
  await expect(ask(named, good)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  expect((await ask(making, good)).root).toBe('/workspaces/work');
});

test('a sandbox that could not be opened takes no room', async () => {
  const { counted, taken } = createSandboxRoom(1);
  const failing = async () => Promise.reject(new Error('it does not start'));
  await expect(counted(failing)).rejects.toThrow('it does not start');
  await expect(counted(failing)).rejects.toThrow('it does not start');
  expect(taken()).toBe(0);
});

test('a runner that lets nothing be changed refuses by itself, whatever is asked and however', async () => {
  const { offered, ground } = await openOffered({ isReadOnly: true });
  const { access, files, openSandbox, history, transactions } = offered;
  expect([access, history, transactions]).toEqual(['read-only', undefined, undefined]);
  const [bytes, none] = [Buffer.from('x'), (async function* () {})()];
  for (const attempt of [
    () => files.write('a.txt', bytes),
    () => files.change('a.txt', () => ({ bytes })),
    () => files.upload('b.txt', none, { maxBytes: 1 }),
    () => files.remove('a.txt', { recursive: true, signal: never }),
    () => files.rename('a.txt', 'b.txt'),
    () => openSandbox(wanted),
  ])
    await expect(attempt()).rejects.toMatchObject({ code: 'E_READ_ONLY' });
  expect((await files.read('a.txt')).bytes.toString()).toBe('as it was');
  expect(readdirSync(ground.at('work'))).toEqual(['a.txt']);
});

function newRunner(name: string, expiresAt?: string, accountId = 'acct'): RunnerToken {
  const token = { accountId, runnerId: `id-${name}`, name, createdAt: now().toISOString() };
  return expiresAt === undefined ? token : { ...token, expiresAt };
}

function newLink(name: string) {
  const [peer, runner] = connectPeers();
  const close = vi.fn((reason: string) => peer.close(reason));
  const link: RunnerLink = {
    id: name,
    capabilities: [],
    peer,
    close,
    state: () => 'online',
    onState() {},
    lastSeenAt: now,
  };
  return { link, close, peer, runner };
}

function joinFleet(...tokens: RunnerToken[]) {
  const fleet = createFleet({ now, emit() {} });
  const links = tokens.map((token, index) => {
    const made = newLink(`${index}`);
    fleet.join(token, report, made.link);
    return made;
  });
  return { fleet, links, closed: () => links.map(({ close }) => close.mock.calls.length > 0) };
}

test('a runner that comes anew is not taken away by the end of what it was before', async () => {
  const { fleet, links } = joinFleet(newRunner('again'), newRunner('again'));
  links[0]?.peer.close('it was cut off');
  await links[0]?.peer.lost;
  await new Promise(setImmediate);
  expect(fleet.linkOf('acct', 'again')).toBe(links[1]?.link);
});

test('an account that is removed loses its runners, and no other does; so does a token that is not listed any more', async () => {
  const { fleet, closed } = joinFleet(newRunner('a'), newRunner('b'), newRunner('a', undefined, 'other'));
  await fleet.dropRevoked(async (accountId) => (accountId === 'acct' ? [newRunner('b')] : [newRunner('a')]));
  expect(closed()).toEqual([true, false, false]);
  fleet.dropAll('acct');
  expect(closed()).toEqual([true, true, false]);
});

test('a token that ends takes its runner away at that moment', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { closed } = joinFleet(newRunner('brief', new Date(Date.now() + 1000).toISOString()));
  vi.advanceTimersByTime(999);
  expect(closed()).toEqual([false]);
  vi.advanceTimersByTime(1);
  expect(closed()).toEqual([true]);
});

test.each([{ sandboxes: -1, cpu: 0 }, { sandboxes: 0.5, cpu: 0 }, { sandboxes: 0, cpu: -100 }, { sandboxes: 0 }, null])(
  'a runner that says its load is %j is not believed',
  async (load) => {
    const { fleet, links } = joinFleet(newRunner('liar'));
    await expect(links[0]?.runner.call('runner.load', load, {}).answer).rejects.toThrow();
    expect(fleet.candidates('acct')[0]?.load).toEqual({ sandboxes: 0, cpu: 0 });
  },
);

test('a workspace that a runner could not open is asked for again, and one that it opened is not', async () => {
  const { link } = newLink('far');
  const { offered } = await openOffered({});
  const openWorkspace = vi.fn(async () => offered).mockRejectedValueOnce(new Error('not yet'));
  const buckets = { serve: () => undefined };
  const places = createFleetPlaces({ fleet: { linkOf: () => link }, buckets, openWorkspace, removeWorkspace: vi.fn() });
  const config = { storage: { provider: 'local' } };
  const record = { id: 'w', accountId: 'acct', name: wish.workspace, config } as WorkspaceRecord;
  const open = () => places.open(record, 'far', wish.name);
  await expect(open()).rejects.toThrow('unexpected failure');
  expect(await Promise.all([open(), open()])).toEqual([offered, offered]);
  expect(openWorkspace).toHaveBeenCalledTimes(2);
});

test('a runner whose token ends far in the future is not cut off before', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const fleet = createFleet({ now, emit() {} });
  const { link, close } = newLink('far');
  const dayMs = 86_400_000;
  fleet.join(newRunner('far', new Date(Date.now() + 60 * dayMs).toISOString()), report, link);
  vi.advanceTimersByTime(30 * dayMs);
  expect(close).not.toHaveBeenCalled();
});

test('runners that come and go under new names are not remembered without end', async () => {
  const fleet = createFleet({ now, emit() {} });
  for (let index = 0; index <= 1000; index += 1) {
    const { link, peer } = newLink(`r${index}`);
    fleet.join(newRunner(`r${index}`), report, link);
    peer.close('it left');
    await peer.lost;
  }
  await vi.waitFor(() => expect(fleet.view(newRunner('r1000')).lastError).toContain('it left'));
  expect(fleet.view(newRunner('r0')).report).toBeUndefined();
});

test('a token that is revoked while it is looked up lets nobody in', async () => {
  const fleet = createFleet({ now, emit() {} });
  const asked = [Promise.withResolvers<RunnerToken | undefined>(), Promise.withResolvers<RunnerToken | undefined>()];
  const authenticate = vi.fn(async () => asked[authenticate.mock.calls.length - 1]?.promise);
  const settings = { allowsInsecure: false, graceMs: 60_000, heartbeatMs: 10_000 };
  const socket = createRunnerSocket({ fleet, authenticate, now, ...settings });
  const { sockets, url } = await startLinkServer();
  sockets.removeAllListeners('connection');
  sockets.on('connection', (one) => socket.accept(one, { token: 't', address: '127.0.0.1', isEncrypted: false }));
  const { states } = startDialling(url);
  await vi.waitFor(() => expect(authenticate).toHaveBeenCalled());
  fleet.drop('acct', 'late', 'revoked');
  // The answer is of before.
  asked[0]?.resolve(newRunner('late'));
  asked[1]?.resolve(undefined);
  await vi.waitFor(() => expect(states.join()).toContain('AUTH_FAILED'));
  expect(fleet.linkOf('acct', 'late')).toBeUndefined();
});

test('who is refused by WebSocket and does not hang up is not kept', async () => {
  const server = createServer();
  serveUpgrades(server, { hostNames: [], doors: [], isStopping: () => false });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  client.on('error', () => {});
  client.write('GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  const [answer] = await once(client, 'data');
  expect(String(answer)).toContain('404');
  const count = () => new Promise((resolve) => server.getConnections((_, connections) => resolve(connections)));
  await vi.waitFor(async () => expect(await count()).toBe(0), { timeout: 20_000 });
});

test('with an account go its runners, at once', async () => {
  await using platform = await startPlatform();
  const account = await platform.newAccount('leaving');
  const token = await newToken(account, 'far');
  const { peers } = startDialling(platform.url, { token: () => token });
  await vi.waitFor(() => expect(peers).toHaveLength(1));
  expect((await account.send('DELETE', '/v1/account')).status).toBe(200);
  expect((await peers[0]?.lost)?.message).toContain('account');
});
