import { once } from 'node:events';
import { runnerSubprotocol } from '@croft/protocol';
import { expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { LinkRefusal } from '../../src/link/accept/link-refusal.ts';
import type { LinkServerOptions } from '../../src/link/accept/link-server.ts';
import { dialServer } from '../../src/link/dial/dial-server.ts';
import { toLinkUrl } from '../../src/link/dial/link-url.ts';
import { report, startDialling, startLinkServer } from './link-server.ts';

const hello = { type: 'hello', version: 1, capabilities: [], received: 0, report };

/** Speaks by hand. Answers the first message that came, and whether it was closed then. */
async function say(url: string, message: unknown, token = 'key') {
  const socket = new WebSocket(url.replace('http', 'ws'), [runnerSubprotocol], {
    headers: { authorization: `Bearer ${token}` },
  });
  const first = once(socket, 'message').then(([data]) => JSON.parse(String(data)) as Record<string, unknown>);
  const closed = once(socket, 'close').then(([code]) => code as number);
  socket.on('error', () => {});
  await once(socket, 'open');
  const isRaw = typeof message === 'string' || Buffer.isBuffer(message);
  if (message !== undefined) socket.send(isRaw ? message : JSON.stringify(message));
  return { socket, first, closed };
}

test('a hello is answered with a welcome that names the link to resume', async () => {
  const { url } = await startLinkServer({ graceMs: 1234, heartbeatMs: 5678 });
  const { first, socket } = await say(url, hello);
  expect(await first).toMatchObject({
    ...{ type: 'welcome', version: 1, capabilities: [], resumed: false, received: 0 },
    ...{ graceMs: 1234, heartbeatMs: 5678, link: expect.stringMatching(/^[0-9a-f]{32}$/) },
  });
  socket.terminate();
});

test.each<[string, string, unknown, string?]>([
  ['a token that is none', 'AUTH_FAILED', hello, 'wrong'],
  ['another version', 'VERSION', { type: 'hello', version: 2, anything: true }],
  ['no JSON', 'INVALID', 'hello'],
  ['no hello', 'INVALID', { type: 'welcome' }],
  ['bytes', 'INVALID', Buffer.from(JSON.stringify(hello))],
  ['no report', 'INVALID', { ...hello, report: undefined }],
  ['a report with a control character', 'INVALID', { ...hello, report: { ...report, version: '1\u001b[2J' } }],
  ['a workspace with a line break', 'INVALID', { ...hello, report: { ...report, workspaces: ['a\nb'] } }],
  ['too many workspaces', 'INVALID', { ...hello, report: { ...report, workspaces: Array(1001).fill('a') } }],
  [
    'too many labels',
    'INVALID',
    {
      ...hello,
      report: { ...report, labels: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`l${n}`, 'x'])) },
    },
  ],
  ['a long name', 'INVALID', { ...hello, report: { ...report, provider: 'p'.repeat(129) } }],
  ['a place before the first', 'INVALID', { ...hello, received: -1 }],
  ['a link of another kind', 'INVALID', { ...hello, link: '../../etc' }],
])('%s is refused, and the connection is closed', async (_, code, message, token) => {
  const { url, links } = await startLinkServer();
  const { first, closed } = await say(url, message, token);
  expect(await first).toMatchObject({ type: 'refused', code });
  await closed;
  expect(links).toEqual([]);
});

test('a silent connection is closed, and a limited number may wait', async () => {
  const { url } = await startLinkServer({ helloWithinMs: 60_000, maxWaiting: 2 });
  const [oldest, other] = [await say(url, undefined), await say(url, undefined)];
  // They keep no runner out.
  expect(await (await say(url, hello)).first).toMatchObject({ type: 'welcome' });
  expect(await oldest.closed).toBe(1006);
  expect(other.socket.readyState).toBe(WebSocket.OPEN);
  other.socket.terminate();
  const { url: hasty } = await startLinkServer({ helloWithinMs: 200 });
  const { first, closed } = await say(hasty, undefined);
  expect(await first).toMatchObject({ type: 'refused', code: 'INVALID' });
  await closed;
});

test('a failure of the server is no refusal: the runner dials again', async () => {
  let failures = 2;
  const { url, links } = await startLinkServer({
    admit: async () => {
      if (failures-- > 0) throw new Error('the database is away');
      return { who: 'someone', key: 'key' };
    },
  });
  const { states } = startDialling(url);
  await vi.waitFor(() => expect(links).toHaveLength(1));
  expect(states.join()).not.toContain('database');
  expect(states.join()).not.toContain('refused');
});

test('C2-9: a runner that dials again is the connected one, and the end of its old connection changes nothing', async () => {
  const { url, links } = await startLinkServer();
  const own = { ...hello, instance: 'a'.repeat(32) };
  const first = await say(url, own);
  const { link } = (await first.first) as { link: string };
  const second = await say(url, { ...own, link });
  expect(await second.first).toMatchObject({ type: 'welcome', resumed: true, link });
  await first.closed;
  expect(links).toHaveLength(1);
  expect(links[0]!.link.state()).toBe('online');

  const anew = await say(url, own);
  expect(await anew.first).toMatchObject({ resumed: false });
  expect((await links[0]!.link.peer.lost).message).toContain('the same token');
  await second.closed;
  expect(links.map(({ link: each }) => each.state())).toEqual(['offline', 'online']);
  expect(await (await say(url, { ...own, link })).first).toMatchObject({ resumed: false });
});

test.each([
  ['another machine', { instance: 'b'.repeat(32) }],
  ['one that says not which it is', {}],
  ['one that guesses a link', { instance: 'b'.repeat(32), link: 'c'.repeat(32) }],
])('%s with the same token is refused while the first is connected, and replaces it afterwards', async (_, who) => {
  const rivals: string[] = [];
  const { url, links } = await startLinkServer({ onRival: (of) => void rivals.push(of) });
  const first = await say(url, { ...hello, instance: 'a'.repeat(32) });
  await first.first;
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const second = await say(url, { ...hello, ...who });
    expect(await second.first).toMatchObject({ type: 'refused', code: 'IN_USE' });
    expect([await second.closed, links.length, links[0]!.link.state()]).toEqual([1008, 1, 'online']);
  }
  expect(rivals).toEqual(['key', 'key', 'key']);
  // Cut off, it is waited for, but not before another.
  first.socket.terminate();
  await vi.waitFor(() => expect(links[0]!.link.state()).toBe('reconnecting'));
  expect(await (await say(url, { ...hello, ...who })).first).toMatchObject({ type: 'welcome', resumed: false });
  expect(links.map(({ link }) => link.state())).toEqual(['offline', 'online']);
});

test('a machine that does not answer is replaced by one that does, and not by a third', async () => {
  const { url, links } = await startLinkServer({ heartbeatMs: 2000 });
  const first = await say(url, hello);
  await first.first;
  // As a machine without power: its connection is there, and nobody at it.
  first.socket.pause();
  const both = await Promise.all(['b', 'c'].map((id) => say(url, { ...hello, instance: id.repeat(32) })));
  const heard = await Promise.all(both.map((one) => one.first));
  expect(heard.map(({ type }) => type).sort()).toEqual(['refused', 'welcome']);
  expect(links.map(({ link }) => link.state())).toEqual(['offline', 'online']);
});

test('the second machine ends with the reason, and the first one keeps trying', async () => {
  const { url, links } = await startLinkServer();
  const first = startDialling(url);
  await vi.waitFor(() => expect(links).toHaveLength(1));
  await expect(dial(url)).rejects.toThrow('another machine is connected with this token');
  links[0]!.link.close('a test ends it');
  const other = await say(url, { ...hello, instance: 'b'.repeat(32) });
  await other.first;
  await vi.waitFor(() => expect(first.states.join()).toContain('refused: IN_USE'));
  other.socket.terminate();
  await vi.waitFor(() => expect(first.states.at(-1)).toBe('online'));
});

/** Until it gives up by itself. */
function dial(url: string): Promise<void> {
  const { signal } = new AbortController();
  const heard = { onLink() {}, onState() {} };
  return dialServer({ url, token: () => 'key', report: () => report, isInsecure: false, signal, ...heard });
}

test('a connection that was overtaken during its check never replaces the newer one', async () => {
  const slow = Promise.withResolvers<void>();
  const admit: LinkServerOptions<string>['admit'] = async ({ token }) => {
    if (token.endsWith('slow')) await slow.promise;
    return { who: token, key: 'key' };
  };
  const { url, links } = await startLinkServer({ admit });
  const old = await say(url, hello, 'key slow');
  const newer = await say(url, hello, 'key quick');
  await newer.first;
  slow.resolve();
  await old.closed;
  expect(links.map(({ who }) => who)).toEqual(['key quick']);
  expect(links[0]!.link.state()).toBe('online');
});

test('two keys have two links, and neither can resume the other', async () => {
  const { url, links } = await startLinkServer();
  const { link } = (await (await say(url, hello, 'key1')).first) as { link: string };
  expect(await (await say(url, { ...hello, link }, 'key2')).first).toMatchObject({ resumed: false });
  expect(links.map((each) => each.link.state())).toEqual(['online', 'online']);
});

test('an impossible position cannot be resumed', async () => {
  const { url, links } = await startLinkServer();
  const { link } = (await (await say(url, hello)).first) as { link: string };
  expect(await (await say(url, { ...hello, link, received: 99 })).first).toMatchObject({ resumed: false });
  expect(links[0]!.link.state()).toBe('offline');
});

test('a revoked token ends its link at once, also one that is being accepted', async () => {
  const asked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  let isRevoked = false;
  const { url, links, server } = await startLinkServer({
    async admit({ token }) {
      if (isRevoked) throw new LinkRefusal('AUTH_FAILED', 'it was revoked');
      if (token === 'key2') {
        asked.resolve();
        await release.promise;
      }
      return { who: token, key: token };
    },
  });
  const first = await say(url, hello, 'key1');
  await first.first;
  const call = links[0]!.link.peer.call('anything', {}, {});
  server.drop('key1', 'its token was revoked');
  expect(links[0]!.link.state()).toBe('offline');
  await expect(call.answer).rejects.toMatchObject({ code: 'E_RUNNER_LOST' });
  await first.closed;

  const second = await say(url, hello, 'key2');
  await asked.promise;
  isRevoked = true;
  server.drop('key2', 'its token was revoked');
  release.resolve();
  expect(await second.first).toMatchObject({ type: 'refused', code: 'AUTH_FAILED' });
  expect(links).toHaveLength(1);
});

test('a runner on another machine needs TLS, unless the server allows plain connections', async () => {
  const strict = await startLinkServer({}, '192.0.2.7');
  expect(await (await say(strict.url, hello)).first).toMatchObject({ type: 'refused', code: 'FORBIDDEN' });
  const lax = await startLinkServer({ allowsInsecure: true }, '192.0.2.7');
  expect(await (await say(lax.url, hello)).first).toMatchObject({ type: 'welcome' });
  const mapped = await startLinkServer({}, '::ffff:127.0.0.1');
  expect(await (await say(mapped.url, hello)).first).toMatchObject({ type: 'welcome' });
});

test.each([
  ['https://croft.example.com', 'wss://croft.example.com/v1/runner-link'],
  ['http://127.0.0.1:7777/', 'ws://127.0.0.1:7777/v1/runner-link'],
  ['ws://[::1]:7777/base/', 'ws://[::1]:7777/base/v1/runner-link'],
  ['wss://host/v1/runner-link', 'wss://host/v1/runner-link'],
  ['http://localhost', 'ws://localhost/v1/runner-link'],
])('%s is dialled at %s', (given, url) => {
  expect(toLinkUrl(given, false)).toBe(url);
});

test.each([
  'http://croft.example.com',
  'ws://192.168.1.2',
  'http://localhost.example.com',
  'ftp://host',
  'host',
  'https://a:b@host',
  'https://host?token=1',
])('%s is not dialled', (given) => {
  expect(() => toLinkUrl(given, false)).toThrow(expect.objectContaining({ name: 'UsageError' }));
});

test('a plain connection to another machine needs a flag', () => {
  expect(toLinkUrl('http://192.168.1.2', true)).toBe('ws://192.168.1.2/v1/runner-link');
});

test('a refusal is reported once, in one line, and a changed token is used', async () => {
  const { url, links } = await startLinkServer();
  let token = 'wrong';
  const asked = vi.fn();
  const { states } = startDialling(url, {
    token() {
      asked();
      return token;
    },
  });
  await vi.waitFor(() => expect(asked.mock.calls.length).toBeGreaterThan(3));
  expect(states).toEqual(['refused: AUTH_FAILED: no such token']);
  token = 'key\n';
  await vi.waitFor(() => expect(links).toHaveLength(1));
  await vi.waitFor(() => expect(states.at(-1)).toBe('online'));
});

test('a runner whose token is revoked reports the reason', async () => {
  let isRevoked = false;
  const { url, links, server } = await startLinkServer({
    async admit() {
      if (isRevoked) throw new LinkRefusal('AUTH_FAILED', 'there is no such token any more');
      return { who: 'someone', key: 'key' };
    },
  });
  const { states } = startDialling(url);
  await vi.waitFor(() => expect(states).toEqual(['online']));
  isRevoked = true;
  server.drop('key', 'its token was revoked');
  await vi.waitFor(() => expect(states).toHaveLength(3));
  expect(states.slice(1)).toEqual([
    'reconnecting: the other side ended it: its token was revoked',
    'refused: AUTH_FAILED: there is no such token any more',
  ]);
  expect(links).toHaveLength(1);
});

test('an unreadable token is reported and tried again', async () => {
  const { url, links } = await startLinkServer();
  let failures = 3;
  const { states } = startDialling(url, {
    token() {
      if (failures-- > 0) throw new Error('no such file');
      return 'key';
    },
  });
  await vi.waitFor(() => expect(links).toHaveLength(1));
  expect(states[0]).toBe('reconnecting: no such file');
});

test('the reason of a refusal is the error that was thrown', async () => {
  const { url } = await startLinkServer({
    admit: async () => {
      throw new LinkRefusal('FORBIDDEN', 'the account is closed');
    },
  });
  expect(await (await say(url, hello)).first).toEqual({
    ...{ type: 'refused', code: 'FORBIDDEN', message: 'the account is closed' },
  });
});
