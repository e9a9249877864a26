import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { defaultSandboxOptions } from '../../src/app/app.ts';
import { createRunnerOffer } from '../../src/app/offer.ts';
import { serveWorkspaces } from '../../src/runner/serve-workspaces.ts';
import { connectPeers } from '../link/connect-peers.ts';
import { startDialling } from '../link/link-server.ts';
import { makeDirectory } from '../support/harness.ts';
import { operator, roomyLimits } from '../support/sandboxes/open-sandbox.ts';
import { type Account, mustBe, type Platform, startPlatform } from '../support/servers/platform.ts';
import { asking } from './ports-fixture.ts';
import { addRemote, agentOn, filesOf, newToken, startRunner, untilRunner } from './runner-fixture.ts';

let platform: Platform;
const own = makeDirectory();
beforeAll(async () => {
  platform = await startPlatform(['--events', own.at('events')]);
});
afterAll(async () => {
  await platform[Symbol.asyncDispose]();
  own[Symbol.dispose]();
});

/** The warning about files of one workspace that are left. */
function leftOf(workspaceId: string) {
  const lines = readFileSync(own.at('events'), 'utf8').trim().split('\n');
  const events = lines.map((line) => JSON.parse(line));
  return events
    .filter(({ event, fields }) => event === 'lifecycle.workspace.left' && fields.workspace === workspaceId)
    .map(({ fields }) => fields);
}

/** Removes the agent first, because a workspace of an agent cannot be removed. */
async function removeBoth(account: Account, { agentId, workspaceId }: { agentId: string; workspaceId: string }) {
  mustBe(200, await account.send('DELETE', `/v1/agents/${agentId}`));
  mustBe(200, await account.send('DELETE', `/v1/workspaces/${workspaceId}`));
}

const listed = (path: string) => (existsSync(path) ? readdirSync(path).sort() : []);

/** All that a runner keeps of workspaces. */
const keptBy = ({ root, data }: { root: string; data: string }) =>
  [join(root, 'workspaces'), join(data, 'history'), join(data, 'caches'), join(data, 'code')].map(
    (path) => listed(path).length,
  );

async function work(account: Account, agentId: string): Promise<void> {
  mustBe(200, await account.call(agentId, 'write', { file_path: 'a.txt', content: 'mine\n' }));
  mustBe(200, await account.call(agentId, 'snapshot_create', { name: 'one' }));
  mustBe(200, await account.call(agentId, 'search_code', { query: 'mine' }));
  mustBe(
    200,
    await account.call(agentId, 'bash', { command: 'echo cached > ~/.cache/x; mkdir -p deep/er; echo x > deep/er/x' }),
  );
}

test('removing a workspace removes its files on the runner, its history and its caches, and no others', async () => {
  const account = await platform.newAccount('gone');
  await using remote = await addRemote(account, { name: 'far' });
  const other = await agentOn(account, { runner: 'far' });
  await work(account, remote.agentId);
  const mine = keptBy(remote.runner);
  await work(account, other.agentId);
  await removeBoth(account, remote);
  expect(leftOf(remote.workspaceId)).toEqual([]);
  expect(keptBy(remote.runner)).toEqual(mine);
  expect(mustBe(200, await account.call(other.agentId, 'read', { file_path: 'a.txt' })).content).toBe('mine\n');
  mustBe(200, await account.call(other.agentId, 'snapshot_restore', { name: 'one' }));
  // One that was not opened since the machine was started is as much there.
  await remote.runner.stop('SIGKILL');
  await untilRunner(account, 'far', 'reconnecting');
  remote.runner.restart();
  await untilRunner(account, 'far');
  await removeBoth(account, other);
  expect(keptBy(remote.runner)).toEqual([0, 0, 0, 0]);
});

test('removing an account removes its files on its runners, before those are disconnected', async () => {
  const account = await platform.newAccount('closed');
  await using remote = await addRemote(account, { name: 'far' });
  await work(account, remote.agentId);
  const { cleanup } = mustBe(200, await account.send('DELETE', '/v1/account'));
  expect(cleanup).toMatchObject({ filesystemsDeleted: 1 });
  expect(keptBy(remote.runner)).toEqual([0, 0, 0, 0]);
});

test('the record is removed although a machine refuses, is offline or is older, and the answer names what is left', async () => {
  const account = await platform.newAccount('left');
  await using remote = await addRemote(account, { name: 'far' });
  await work(account, remote.agentId);
  const files = filesOf(remote.runner);
  await remote.runner.stop('SIGTERM');
  await untilRunner(account, 'far', 'offline');
  await removeBoth(account, remote);
  expect(leftOf(remote.workspaceId)).toMatchObject([
    { runner: 'far', reason: expect.stringContaining('not connected') },
  ]);
  expect(platform.output.stderr()).toContain(
    `the files of workspace ${remote.workspaceId} are still on the runner far`,
  );

  await using readOnly = await addRemote(account, { name: 'looks', args: ['--readonly'] });
  mustBe(200, await account.call(readOnly.agentId, 'glob', { pattern: '*' }));
  writeFileSync(join(filesOf(readOnly.runner), 'b.txt'), 'as it was\n');
  await removeBoth(account, readOnly);
  expect(leftOf(readOnly.workspaceId)).toMatchObject([
    { runner: 'looks', reason: expect.stringContaining('--readonly') },
  ]);
  expect(listed(filesOf(readOnly.runner))).toEqual(['b.txt']);

  const token = await newToken(account, 'old');
  startDialling(platform.url, { token: () => token });
  await untilRunner(account, 'old');
  const workspaceId = await account.newWorkspace({ home: 'old' });
  mustBe(200, await account.send('DELETE', `/v1/workspaces/${workspaceId}`));
  expect(leftOf(workspaceId)).toMatchObject([{ runner: 'old', reason: expect.stringContaining('older release') }]);
  expect(readFileSync(join(files, 'a.txt'), 'utf8')).toBe('mine\n');
});

test('a directory that the operator named is never removed', async () => {
  using project = makeDirectory({ 'mine.txt': 'my own\n' });
  const account = await platform.newAccount('named');
  const args = ['--workspaces', `project=${project.path}`];
  await using runner = await startRunner({ url: platform.url, token: await newToken(account, 'laptop'), args });
  await untilRunner(account, 'laptop');
  const sandbox = await account.newSandbox({ provider: 'remote', runner: 'laptop', permissionMode: 'bypass' });
  const workspaceId = await account.newWorkspace({}, 'project');
  const agentId = await account.newAgent({ sandbox, workspaces: [{ name: 'main', workspaceId }] });
  mustBe(200, await account.call(agentId, 'write', { file_path: 'b.txt', content: 'x' }));
  await removeBoth(account, { agentId, workspaceId });
  expect(listed(project.path)).toEqual(['b.txt', 'mine.txt']);
  expect(runner.child.exitCode).toBe(null);
});

test('a server cannot remove more than was made on the runner', async () => {
  const fixture = makeDirectory({ 'outside/canary.txt': 'untouched' });
  const namespace = (digit: string) => `fs-${digit.repeat(40)}`;
  const made = (digit: string) => fixture.at(`root/workspaces/${namespace(digit)}`);
  mkdirSync(join(made('a'), 'inner'), { recursive: true });
  symlinkSync(fixture.at('outside'), made('b'));
  const offer = createRunnerOffer({
    // Made here once, and given by name since.
    ...{ workspaces: [{ name: 'adopted', path: join(made('a'), 'inner') }], root: fixture.at('root') },
    ...{ data: fixture.at('data'), sandbox: { ...defaultSandboxOptions, limits: roomyLimits } },
    ...{ host: { ...operator, variables: {} }, isReadOnly: false, onWarning: () => {} },
  });
  const [server, runner] = connectPeers();
  serveWorkspaces(runner, offer);
  onTestFinished(async () => {
    server.close('over');
    await runner.lost;
    await offer[Symbol.asyncDispose]();
    fixture[Symbol.dispose]();
  });
  const ask = asking(server);
  const names = [
    '',
    '.',
    '..',
    '../outside',
    `${namespace('a')}/..`,
    `../${namespace('a')}`,
    'workspaces',
    namespace('A'),
  ];
  for (const name of [...names, `${namespace('a')}\n`, 7, null])
    await expect(ask('workspace.remove', { namespace: name })).rejects.toMatchObject({ code: 'E_INVALID_INPUT' });
  const more = { namespace: namespace('b'), root: '/' };
  await expect(ask('workspace.remove', more)).rejects.toMatchObject({ code: 'E_INVALID_INPUT' });
  await expect(ask('workspace.remove', { namespace: namespace('a') })).rejects.toMatchObject({ code: 'E_FORBIDDEN' });
  expect(await ask('workspace.remove', { namespace: namespace('b') })).toEqual({ removed: false });
  expect(await ask('workspace.remove', { namespace: namespace('c') })).toEqual({ removed: false });
  expect(readFileSync(fixture.at('outside/canary.txt'), 'utf8')).toBe('untouched');
  expect(listed(made('a'))).toEqual(['inner']);

  // What was open of it is so no more, and cannot come to mean another.
  const request = { namespace: namespace('d'), workspace: 'w', name: 'w' };
  const { place: handle } = (await ask('workspace.open', request)) as { place: string };
  expect(await ask('workspace.remove', { namespace: namespace('d') })).toEqual({ removed: true });
  expect(existsSync(made('d'))).toBe(false);
  await expect(ask('files.list', { place: handle, path: '', limit: 1 })).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  expect(listed(fixture.at('root/workspaces'))).toEqual([namespace('a'), namespace('b')]);
});
