import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDialling } from '../link/link-server.ts';
import { type Account, mustBe, type Platform, startPlatform } from '../support/servers/platform.ts';
import { agentOn, newToken, type Runner, startRunner, untilRunner } from './runner-fixture.ts';

let platform: Platform;
let account: Account;
const runners = new Map<string, Runner>();
beforeAll(async () => {
  platform = await startPlatform(['--account-limit', 'sandboxes=6']);
  account = await platform.newAccount('fleet');
  for (const [name, labels] of [
    ['small', ['zone=a', 'size=small']],
    ['large', ['zone=a', 'size=large']],
  ] as const) {
    const args = labels.flatMap((label) => ['--label', label]);
    runners.set(name, await startRunner({ url: platform.url, token: await newToken(account, name), args }));
    await untilRunner(account, name);
  }
});
afterAll(async () => {
  for (const runner of runners.values()) await runner[Symbol.asyncDispose]();
  await platform[Symbol.asyncDispose]();
});

const newAgent = (labels: Record<string, string>) => agentOn(account, { labels });
const homeOf = async (workspaceId: string) =>
  mustBe(200, await account.send('GET', `/v1/workspaces/${workspaceId}`)).config.home;
const filesOf = (name: string) => JSON.stringify(readdirSync(runners.get(name)?.root ?? '', { recursive: true }));

test('labels choose the runner once, for every session of the workspace', async () => {
  const { agentId, workspaceId } = await newAgent({ size: 'large' });
  mustBe(200, await account.call(agentId, 'write', { file_path: 'one.txt', content: '1' }, { 'croft-session': 'a' }));
  mustBe(200, await account.call(agentId, 'write', { file_path: 'two.txt', content: '2' }, { 'croft-session': 'b' }));
  expect(await homeOf(workspaceId)).toBe('large');
  expect(filesOf('large')).toContain('two.txt');
  expect(filesOf('small')).not.toContain('one.txt');
});

test.each([
  ['small', 'large'],
  ['large', 'small'],
])(
  'C2-8b: with two runners connected, the session of a sandbox that names %s is on it, and not on %s',
  async (own, other) => {
    const { agentId, workspaceId } = await agentOn(account, { runner: own });
    mustBe(200, await account.call(agentId, 'write', { file_path: `on-${own}.txt`, content: own }));
    mustBe(200, await account.call(agentId, 'bash', { command: `echo by-bash > on-${own}-by-bash.txt` }));
    expect(filesOf(own)).toContain(`on-${own}-by-bash.txt`);
    expect(filesOf(other)).not.toContain(`on-${own}`);
    expect(await homeOf(workspaceId)).toBe(own);
  },
);

test('a workspace does not move while its runner is offline, and a person may rebind it', async () => {
  const { agentId, workspaceId } = await newAgent({ zone: 'a' });
  mustBe(200, await account.call(agentId, 'write', { file_path: 'home.txt', content: 'x' }));
  const home = await homeOf(workspaceId);
  const other = home === 'small' ? 'large' : 'small';
  await runners.get(home)?.stop('SIGTERM');
  await untilRunner(account, home, 'offline');
  const refused = await account.call(agentId, 'read', { file_path: 'home.txt' });
  expect([refused.status, refused.body.error.code]).toEqual([503, 'E_SANDBOX_UNAVAILABLE']);
  expect(refused.body.error.message).toContain(home);
  mustBe(200, await account.send('PATCH', `/v1/workspaces/${workspaceId}`, { config: { home: other } }));
  // The files have not moved: it is another machine, and the person said so.
  expect((await account.call(agentId, 'read', { file_path: 'home.txt' })).body.error.code).toBe('E_FILE_NOT_FOUND');
  mustBe(200, await account.call(agentId, 'write', { file_path: 'moved.txt', content: 'x' }));
  expect(filesOf(other)).toContain('moved.txt');
  mustBe(200, await account.send('PATCH', `/v1/workspaces/${workspaceId}`, { config: { home } }));
  runners.get(home)?.restart();
  await untilRunner(account, home);
  expect(mustBe(200, await account.call(agentId, 'read', { file_path: 'home.txt' })).content).toContain('x');
});

test('a sandbox of this server cannot use files of a runner, nor a sandbox of a runner files of this server', async () => {
  const { agentId, workspaceId } = await newAgent({ size: 'small' });
  mustBe(200, await account.call(agentId, 'write', { file_path: 'a.txt', content: 'x' }));
  const here = await account.newSandbox({ permissionMode: 'bypass' });
  const local = await account.newAgent({ sandbox: here, workspaces: [{ name: 'main', workspaceId }] });
  const refused = await account.call(local, 'bash', { command: 'ls' });
  expect(refused.body.error.message).toContain('its sandbox is on this server');
  const kept = await account.newWorkspace();
  const first = await account.newAgent({ sandbox: here, workspaces: [{ name: 'main', workspaceId: kept }] });
  mustBe(200, await account.call(first, 'write', { file_path: 'here.txt', content: 'x' }));
  const far = await account.newSandbox({ provider: 'remote', runner: 'small', permissionMode: 'bypass' });
  const second = await account.newAgent({ sandbox: far, workspaces: [{ name: 'main', workspaceId: kept }] });
  const hidden = await account.call(second, 'read', { file_path: 'here.txt' });
  expect(hidden.body.error.message).toContain('files on this server');
});

test.each([
  [{ runner: 'large' }, 'its sandbox names large'],
  [{ labels: { zone: 'a', size: 'large' } }, 'does not have the labels that its sandbox asks for'],
])('a sandbox with %j cannot use files of another runner', async (choice, reason) => {
  const { agentId, workspaceId } = await newAgent({ size: 'small' });
  mustBe(200, await account.call(agentId, 'write', { file_path: 'mine.txt', content: 'x' }));
  const sandbox = await account.newSandbox({ provider: 'remote', permissionMode: 'bypass', ...choice });
  const other = await account.newAgent({ sandbox, workspaces: [{ name: 'main', workspaceId }] });
  const { body } = await account.call(other, 'bash', { command: 'ls' });
  expect([body.error.code, body.error.message]).toEqual(['E_SANDBOX_UNAVAILABLE', expect.stringContaining(reason)]);
});

test('a runner of another account is never chosen, and its name never shown', async () => {
  const stranger = await platform.newAccount('stranger');
  const { agentId } = await agentOn(stranger, { labels: { zone: 'a' } });
  const { body } = await stranger.call(agentId, 'read', { file_path: 'a.txt' });
  expect(body.error.message).toContain('there is no runner with the labels zone=a');
});

test.each([
  [{ quota: { bytes: 1000 } }, 'cannot enforce a quota'],
  [{ storage: { provider: 's3' } }, 'cannot open a workspace in a bucket'],
])('a workspace with %j is refused on a runner that knows nothing of it', async (config, reason) => {
  const token = await newToken(account, `old-${reason.length}`);
  const { stop } = startDialling(platform.url, { token: () => token });
  await untilRunner(account, `old-${reason.length}`);
  const { agentId } = await agentOn(account, { runner: `old-${reason.length}` }, config);
  const { body } = await account.call(agentId, 'read', { file_path: 'a.txt' });
  expect([body.error.code, body.error.message]).toEqual(['E_SANDBOX_UNAVAILABLE', expect.stringContaining(reason)]);
  await stop();
});

test('a workspace on a runner can be read without a sandbox there, and not changed', async () => {
  const { agentId, workspaceId, sandboxId: sandbox } = await newAgent({ size: 'small' });
  mustBe(200, await account.call(agentId, 'write', { file_path: 'a.txt', content: 'to be read' }));
  const own = { name: 'own', workspaceId: await account.newWorkspace() };
  const theirs = { name: 'theirs', workspaceId, sandbox: null };
  const reader = await account.newAgent({ sandbox, workspaces: [own, theirs] });
  const call = (tool: string, input: object) => account.call(reader, tool, { ...input, workspace: 'theirs' });
  expect(mustBe(200, await call('read', { file_path: 'a.txt' })).content).toContain('to be read');
  for (const [tool, input] of [
    ['write', { file_path: 'b.txt', content: 'x' }],
    ['bash', { command: 'touch b.txt' }],
  ] as const)
    expect([tool, (await call(tool, input)).body.error?.code]).toEqual([tool, 'E_READ_ONLY']);
  expect(filesOf('small')).not.toContain('b.txt');
});

test('a runner gives at most what its operator allows', async () => {
  const network = { mode: 'restricted', allowDomains: ['example.com'] };
  const { agentId } = await agentOn(account, { runner: 'small', network });
  const refused = await account.call(agentId, 'bash', { command: 'true' });
  expect([refused.status, refused.body.error.code]).toEqual([503, 'E_SANDBOX_UNAVAILABLE']);
  expect(refused.body.error.message).toContain('this runner allows the network deny-all at most');
});

test.each([
  [{ provider: 'remote' }, 'config.runner or config.labels must say which runner'],
  [{ provider: 'remote', runner: 'a', labels: { b: 'c' } }, 'and not both'],
  [{ runner: 'a' }, 'config.runner and config.labels are for the provider remote'],
])('%j is refused: %s', async (config, reason) => {
  const refused = await account.send('POST', '/v1/sandboxes', { name: `bad-${Math.random()}`, config });
  expect(refused.status).toBe(400);
  expect(refused.body.error.message).toContain(reason);
});

test('settings of a sandbox hold on a runner, and so do the limits of open sandboxes of an account', async () => {
  const { agentId } = await agentOn(account, {
    ...{ runner: 'small', memoryLimit: 128, persistent: true },
    ...{ envVars: { OF_MINE: 'said-by-me' }, onCreate: ['echo made-first > made.txt'] },
  });
  const bash = (command: string) => account.call(agentId, 'bash', { command });
  expect(mustBe(200, await bash('cat made.txt; printf %s $OF_MINE | wc -c')).output).toBe('made-first\n10\n');
  // One line without an end, which `tail` holds in memory.
  expect(mustBe(200, await bash('head -c 200000000 /dev/zero | tail -n 1 | wc -c')).output).not.toContain('200000000');
  // Last of all tests here: from now on the account has as many open as it may.
  const other = await agentOn(account, { runner: 'small' });
  const open = (session: string) =>
    account.call(other.agentId, 'bash', { command: 'true' }, { 'croft-session': session });
  const more = await Promise.all(['b', 'c', 'd', 'e', 'f', 'g', 'h'].map(open));
  expect(more.filter(({ status }) => status === 200).length).toBeLessThan(6);
  expect(more.find(({ status }) => status !== 200)?.body.error.code).toBe('E_QUOTA');
});
