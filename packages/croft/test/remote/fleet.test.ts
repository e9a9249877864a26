import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createFleet } from '../../src/app/fleet/fleet.ts';
import { createFleetWorkspaces } from '../../src/app/fleet/fleet-workspaces.ts';
import type { RunnerLink } from '../../src/app/fleet/runner-link.ts';
import { createRunnerSocket } from '../../src/app/fleet/runner-socket.ts';
import type { WorkspaceRecord } from '../../src/app/workspaces/opened-workspaces.ts';
import type { RunnerToken } from '../../src/core/accounts/ports/registry.ts';
import { serveUpgrades } from '../../src/rest/web-sockets/serve-upgrades.ts';
import { connectPeers } from '../link/connect-peers.ts';
import { report, startDialling, startLinkServer } from '../link/link-server.ts';
import { startPlatform } from '../support/servers/platform.ts';
import { openOffer } from './offer-fixture.ts';
import { workspaceRequest } from './ports-fixture.ts';
import { newToken } from './runner-fixture.ts';

const now = () => new Date();

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

test('a runner that connects again is not removed by the end of its old connection', async () => {
  const { fleet, links } = joinFleet(newRunner('again'), newRunner('again'));
  links[0]?.peer.close('it was cut off');
  await links[0]?.peer.lost;
  await new Promise(setImmediate);
  expect(fleet.linkOf('acct', 'again')).toBe(links[1]?.link);
});

test('a removed account loses its runners, and no other account does; a token that is gone loses its runner too', async () => {
  const { fleet, closed } = joinFleet(newRunner('a'), newRunner('b'), newRunner('a', undefined, 'other'));
  await fleet.dropRevoked(async (accountId) => (accountId === 'acct' ? [newRunner('b')] : [newRunner('a')]));
  expect(closed()).toEqual([true, false, false]);
  fleet.dropAll('acct');
  expect(closed()).toEqual([true, true, false]);
});

test('a token that expires disconnects its runner at that moment', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { closed } = joinFleet(newRunner('brief', new Date(Date.now() + 1000).toISOString()));
  vi.advanceTimersByTime(999);
  expect(closed()).toEqual([false]);
  vi.advanceTimersByTime(1);
  expect(closed()).toEqual([true]);
});

test.each([{ sandboxes: -1, cpu: 0 }, { sandboxes: 0.5, cpu: 0 }, { sandboxes: 0, cpu: -100 }, { sandboxes: 0 }, null])(
  'a reported load of %j is ignored',
  async (load) => {
    const { fleet, links } = joinFleet(newRunner('liar'));
    await expect(links[0]?.runner.call('runner.load', load, {}).answer).rejects.toThrow();
    expect(fleet.candidates('acct')[0]?.load).toEqual({ sandboxes: 0, cpu: 0 });
  },
);

test('a workspace that a runner failed to open is requested again, and an opened one is not', async () => {
  const { link } = newLink('far');
  const { offered } = await openOffer({});
  const openWorkspace = vi.fn(async () => offered).mockRejectedValueOnce(new Error('not yet'));
  const buckets = { serve: () => undefined };
  const fleetWorkspaces = createFleetWorkspaces({
    fleet: { linkOf: () => link },
    buckets,
    openWorkspace,
    removeWorkspace: vi.fn(),
  });
  const config = { storage: { provider: 'local' } };
  const record = { id: 'w', accountId: 'acct', name: workspaceRequest.workspace, config } as WorkspaceRecord;
  const open = () => fleetWorkspaces.open(record, 'far', workspaceRequest.name);
  await expect(open()).rejects.toThrow('unexpected failure');
  expect(await Promise.all([open(), open()])).toEqual([offered, offered]);
  expect(openWorkspace).toHaveBeenCalledTimes(2);
});

test('a runner whose token expires far in the future is not disconnected earlier', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const fleet = createFleet({ now, emit() {} });
  const { link, close } = newLink('far');
  const dayMs = 86_400_000;
  fleet.join(newRunner('far', new Date(Date.now() + 60 * dayMs).toISOString()), report, link);
  vi.advanceTimersByTime(30 * dayMs);
  expect(close).not.toHaveBeenCalled();
});

test('runners that come and go under new names are not stored for ever', async () => {
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

test('a token revoked during its lookup admits nobody', async () => {
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

test('a refused WebSocket that does not hang up is closed', async () => {
  const server = createServer();
  serveUpgrades(server, { hostNames: [], handlers: [], isStopping: () => false });
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

test('removing an account disconnects its runners at once', async () => {
  await using platform = await startPlatform();
  const account = await platform.newAccount('leaving');
  const token = await newToken(account, 'far');
  const { peers } = startDialling(platform.url, { token: () => token });
  await vi.waitFor(() => expect(peers).toHaveLength(1));
  expect((await account.send('DELETE', '/v1/account')).status).toBe(200);
  expect((await peers[0]?.lost)?.message).toContain('account');
});
