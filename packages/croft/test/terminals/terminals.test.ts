import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startRemote } from '../remote/runner-fixture.ts';
import { type Account, mustBe, openAccount, type Platform, startPlatform } from '../support/servers/platform.ts';
import { connectTerminal, newTicket, type TerminalTarget } from './fixture.ts';

let platform: Platform;
let account: Account;
let here: TerminalTarget;
let remote: Awaited<ReturnType<typeof startRemote>>;
beforeAll(async () => {
  platform = await startPlatform();
  account = await platform.newAccount('people');
  here = { sandboxId: await account.newSandbox({}), workspaceId: await account.newWorkspace() };
  remote = await startRemote(platform, { name: 'far' });
});
afterAll(async () => {
  await remote[Symbol.asyncDispose]();
  await platform[Symbol.asyncDispose]();
});

const machines = ['on this machine', 'on a runner'] as const;
const at = (where: (typeof machines)[number]) =>
  where === 'on this machine' ? { owner: account, place: here } : { owner: remote.account, place: remote };

test.each(machines)('C2-13: typed text arrives in a terminal %s, which has a size', async (where) => {
  const { owner, place: target } = at(where);
  const { path } = await newTicket(owner, target, { rows: 30, columns: 100 });
  using screen = connectTerminal(platform.url, path);
  await screen.untilMessage('attached');
  screen.type('stty size; pwd; tty\n');
  await screen.untilText(/30 100\r\n\/workspaces\/.*\r\n\/dev\/pts\/\d/s);
  screen.say({ type: 'resize', rows: 50, columns: 120 });
  screen.type('sleep 0.2; stty size\n');
  await screen.untilText(/50 120/);
  screen.type('exit 7\n');
  expect(await screen.untilMessage('exit')).toEqual({ type: 'exit', code: 7, signal: null });
  await screen.untilClosed();
});

/** A shell loop that prints numbered lines. The second half waits for a key, so that it is never there before a cut. */
const count = (from: number, to: number) => `for i in $(seq ${from} ${to}); do echo line-$i; done`;

test.each(machines)('a terminal %s resumes after a cut, at the exact byte', async (where) => {
  const { owner, place: target } = at(where);
  using first = connectTerminal(platform.url, (await newTicket(owner, target)).path);
  const { terminal } = (await first.untilMessage('attached')) as { terminal: string };
  first.type(`stty -echo; PS1=; ${count(1, 10_000)}; read -r _; ${count(10_001, 20_000)}; echo all done\n`);
  await first.untilText(/line-100\r/);
  first.socket.terminate();
  await first.untilClosed();
  const from = first.length();
  using second = connectTerminal(platform.url, (await newTicket(owner, target, { terminal, from })).path);
  await second.untilMessage('attached');
  second.type('\n');
  const acknowledging = setInterval(() => second.say({ type: 'ack', offset: from + second.length() }), 5);
  await second.untilText(/all done\r\n/).finally(() => clearInterval(acknowledging));
  const whole = Buffer.concat([first.bytes(), second.bytes()]).toString();
  expect(whole.match(/line-\d+/g)).toEqual(Array.from({ length: 20_000 }, (_, index) => `line-${index + 1}`));
});

test('a program waits for its viewer, and no buffer grows meanwhile', async () => {
  using screen = connectTerminal(platform.url, (await newTicket(account, here)).path);
  await screen.untilMessage('attached');
  screen.type('yes | head -c 20000000; echo; echo the "end"\n');
  await screen.untilText(/y\r\ny/);
  // Without acknowledgements the output stops by itself, far from the end.
  await expect.poll(() => screen.length(), { timeout: 60_000 }).toBeGreaterThan(512 * 1024);
  expect(screen.length()).toBeLessThan(2 * 1024 * 1024);
  expect(screen.text()).not.toContain('the end');
  const acknowledging = setInterval(() => screen.say({ type: 'ack', offset: screen.length() }), 1);
  await screen.untilText(/\r\nthe end/).finally(() => clearInterval(acknowledging));
});

test('C2-3: a ticket admits one person once, to its own terminal', async () => {
  const { path } = await newTicket(account, here);
  using screen = connectTerminal(platform.url, path);
  const { terminal } = (await screen.untilMessage('attached')) as { terminal: string };
  using again = connectTerminal(platform.url, path);
  await again.untilClosed();
  expect(again.status()).toBe(401);
  // Neither another sandbox nor another account, nor another key of the same one.
  const elsewhere = (await newTicket(account, here)).path.replace(here.sandboxId, await account.newSandbox({}));
  using wrong = connectTerminal(platform.url, elsewhere);
  await wrong.untilClosed();
  expect(wrong.status()).toBe(401);
  const key = mustBe(201, await account.send('POST', '/v1/keys', { name: 'other', scopes: ['*'] }));
  const other = openAccount(platform.url, key.secret, account.accountId);
  using foreign = connectTerminal(platform.url, (await newTicket(other, here, { terminal })).path);
  expect(await foreign.untilMessage('error')).toMatchObject({ code: 'E_NOT_FOUND' });
  const refused = await remote.account.send('POST', `/v1/sandboxes/${here.sandboxId}/terminals`, {
    workspaceId: here.workspaceId,
  });
  expect(refused.status).toBe(404);
});

test('C2-3: without its sandbox no terminal opens, and never one on the server', async () => {
  const { account: owner } = remote;
  const sandboxId = await owner.newSandbox({ provider: 'remote', runner: 'nobody' });
  const workspaceId = await owner.newWorkspace();
  using screen = connectTerminal(platform.url, (await newTicket(owner, { sandboxId, workspaceId })).path);
  expect(await screen.untilMessage('error')).toMatchObject({ code: 'E_SANDBOX_UNAVAILABLE' });
  screen.type('touch /tmp/croft-terminal-canary\n');
  await screen.untilClosed();
  expect(existsSync('/tmp/croft-terminal-canary')).toBe(false);
});

test('C2-3: a page of another site cannot open a terminal', async () => {
  const { path } = await newTicket(account, here);
  const socket = new WebSocket(new URL(path, platform.url.replace(/^http/, 'ws')), 'croft.terminal.1', {
    headers: { origin: 'https://evil.example' },
  });
  const status = await new Promise((resolve) => {
    socket.on('error', () => {});
    socket.on('unexpected-response', (_, response) => resolve(response.statusCode));
  });
  expect(status).toBe(403);
});

test('a terminal ends with the key that opened it', async () => {
  const key = mustBe(201, await account.send('POST', '/v1/keys', { name: 'brief', scopes: ['terminal', 'read'] }));
  const person = openAccount(platform.url, key.secret, account.accountId);
  using screen = connectTerminal(platform.url, (await newTicket(person, here)).path);
  await screen.untilMessage('attached');
  mustBe(200, await account.send('DELETE', `/v1/keys/${key.key.keyId}`));
  await screen.untilClosed();
});

test('a viewer that acknowledges without reading is disconnected, and its output is not buffered', async () => {
  using screen = connectTerminal(platform.url, (await newTicket(account, here)).path);
  await screen.untilMessage('attached');
  screen.type('yes | head -c 200000000\n');
  await screen.untilText(/y\r\ny/);
  screen.socket.pause();
  const lie = setInterval(() => {
    screen.say({ type: 'ack', offset: Number.MAX_SAFE_INTEGER });
    screen.socket.pong();
  }, 1);
  await screen.untilClosed().finally(() => clearInterval(lie));
  expect(screen.length()).toBeLessThan(100_000_000);
});

test('endless input for a program that does not read is refused', async () => {
  using screen = connectTerminal(platform.url, (await newTicket(account, here)).path);
  await screen.untilMessage('attached');
  screen.type('stty raw -echo; echo rea""dy; sleep 1000\n');
  await screen.untilText(/ready/);
  for (let index = 0; index < 64; index += 1) screen.type('x'.repeat(200_000));
  expect(await screen.untilMessage('error')).toMatchObject({ code: 'E_TOO_LARGE' });
  await screen.untilClosed();
});

test('a ticket is refused after its key was revoked', async () => {
  const key = mustBe(201, await account.send('POST', '/v1/keys', { name: 'briefer', scopes: ['terminal', 'read'] }));
  const { path } = await newTicket(openAccount(platform.url, key.secret, account.accountId), here);
  mustBe(200, await account.send('DELETE', `/v1/keys/${key.key.keyId}`));
  using screen = connectTerminal(platform.url, path);
  expect(await screen.untilMessage('error')).toMatchObject({ code: 'E_UNAUTHORIZED' });
  expect(screen.told.map(({ type }) => type)).toEqual(['error']);
});
