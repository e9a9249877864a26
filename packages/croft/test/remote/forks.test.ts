import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startDialling } from '../link/link-server.ts';
import { makeDirectory } from '../support/harness.ts';
import { mountsIn, unmountBelow } from '../support/mounts.ts';
import { type Account, mustBe, type Platform, startPlatform } from '../support/servers/platform.ts';
import { addRemote, agentOn, filesOf, newToken, type Runner, startRunner, untilRunner } from './runner-fixture.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform[Symbol.asyncDispose]());

const listed = (path: string) => (existsSync(path) ? readdirSync(path).sort() : []);
const madeOn = ({ root }: Pick<Runner, 'root'>) => listed(join(root, 'workspaces'));
/** Files of a runner for its forks: records and bases. */
const layersOf = ({ data }: Pick<Runner, 'data'>) =>
  [join(data, 'forks'), ...listed(join(data, 'bases')).map((name) => join(data, 'bases', name))].flatMap(listed);

/** Its mounts go before its directories. */
async function start(account: Account, options: { args?: string[] } = {}) {
  const remote = await addRemote(account, options);
  const { runner, agentId, workspaceId } = remote;
  const call = (tool: string, input: object = {}) => account.call(agentId, tool, input);
  const ok = async (tool: string, input: object = {}) => mustBe(200, await call(tool, input));
  return {
    ...{ ...remote, call, ok, path: `/v1/workspaces/${workspaceId}` },
    shell: async (workspace: string, command: string) => (await ok('bash', { workspace, command })).output,
    async [Symbol.asyncDispose]() {
      await runner.stop('SIGKILL');
      for (const directory of [runner.root, runner.data]) unmountBelow(directory);
      await remote[Symbol.asyncDispose]();
    },
  };
}

async function restart(account: Account, runner: Runner): Promise<void> {
  await runner.stop('SIGKILL');
  await untilRunner(account, 'far', 'reconnecting');
  runner.restart();
  await untilRunner(account, 'far');
}

test('a workspace on a runner is forked there, used, merged and removed', async () => {
  const account = await platform.newAccount('forks');
  await using remote = await start(account);
  const { ok, call, shell, runner, workspaceId } = remote;
  const before = listed(join(platform.data, 'workspaces'));
  await ok('write', { file_path: 'a.txt', content: 'one\n' });
  await ok('snapshot_create', { name: 'then' });
  await ok('bash', {
    command:
      'printf "l1\nl2\nl3\nl4\nl5\n" > text; echo node_modules > .gitignore; mkdir node_modules; echo x > node_modules/x',
  });

  const forked = await ok('workspace_fork', { name: 'try' });
  expect(forked).toMatchObject({ name: 'try', workspaceId: expect.stringMatching(/^ws_/) });
  const record = mustBe(200, await account.send('GET', `/v1/workspaces/${forked.workspaceId}`));
  expect(record.config).toMatchObject({ forkOf: workspaceId, home: 'far' });
  expect(madeOn(runner)).toHaveLength(2);

  expect(await shell('try', 'pwd; cat a.txt text node_modules/x')).toBe(
    '/workspaces/try\none\nl1\nl2\nl3\nl4\nl5\nx\n',
  );
  await ok('write', { workspace: 'try', file_path: 'b.txt', content: 'new\n' });
  await shell('try', 'sed -i s/l1/L1/ text; rm a.txt');
  await shell('main', 'sed -i s/l5/L5/ text');
  expect(await shell('main', 'cat a.txt text; ls')).toBe('one\nl1\nl2\nl3\nl4\nL5\na.txt\nnode_modules\ntext\n');
  expect(await shell('try', 'cat text')).toBe('L1\nl2\nl3\nl4\nl5\n');
  expect((await call('workspace_fork', { name: 'try' })).body).toMatchObject({ error: { code: 'E_ALREADY_EXISTS' } });
  expect((await call('workspace_fork', { name: 'no', snapshot: 'absent' })).status).toBe(404);
  expect(madeOn(runner)).toHaveLength(2);

  const merged = await ok('workspace_merge', { workspace: 'main', fork: 'try' });
  expect(merged).toMatchObject({ added: ['b.txt'], removed: ['a.txt'], merged: ['text'], conflicts: [] });
  expect(await shell('main', 'cat text b.txt')).toBe('L1\nl2\nl3\nl4\nL5\nnew\n');
  await ok('undo', { workspace: 'main' });
  expect(await shell('main', 'ls')).toBe('a.txt\nnode_modules\ntext\n');

  await shell('try', 'echo theirs > text');
  const refused = await call('workspace_merge', { workspace: 'main', fork: 'try' });
  expect(refused.status).toBe(409);
  expect(JSON.stringify(refused.body)).toContain('both changed');
  expect(await shell('main', 'cat text')).toContain('L5');
  const decided = mustBe(
    200,
    await account.send('POST', `${remote.path}/merge`, { fork: 'try', onConflict: 'theirs' }),
  );
  expect(decided).toMatchObject({ conflicts: [{ path: 'text', reason: 'both changed' }] });
  expect(await shell('main', 'cat text')).toBe('theirs\n');

  const old = mustBe(201, await account.send('POST', `${remote.path}/forks`, { name: 'old', snapshot: 'then' })).fork;
  const { forks } = mustBe(200, await account.send('GET', `${remote.path}/forks`));
  expect(forks).toEqual(expect.arrayContaining([forked, old]));
  const other = await agentOn(account, { runner: 'far' });
  const given = { config: { workspaces: [{ name: 'old', workspaceId: old.workspaceId }] } };
  mustBe(200, await account.send('PATCH', `/v1/agents/${other.agentId}`, given));
  expect(mustBe(200, await account.call(other.agentId, 'bash', { command: 'cat a.txt; ls' })).output).toContain(
    'one\na.txt\n',
  );
  expect((await call('workspace_merge', { workspace: 'main', fork: 'old' })).status).toBe(404);

  await ok('workspace_remove', { workspace: 'main', fork: 'try' });
  expect((await account.send('GET', `/v1/workspaces/${forked.workspaceId}`)).status).toBe(404);
  expect(madeOn(runner)).toHaveLength(2);
  expect(await shell('main', 'cat text')).toBe('theirs\n');
  expect(listed(join(platform.data, 'workspaces'))).toEqual(before);
});

test('forks survive the runner, its mounts and their parent, and nothing is left after the last', async () => {
  const account = await platform.newAccount('lasting');
  await using remote = await start(account);
  const { ok, call, shell, runner } = remote;
  await ok('write', { file_path: 'a.txt', content: 'one\n' });
  const { workspaceId: lasting } = await ok('workspace_fork', { name: 'lasting' });
  await ok('workspace_fork', { name: 'gone' });
  await shell('lasting', 'echo mine > mine');

  await runner.stop('SIGTERM');
  await untilRunner(account, 'far', 'offline');
  for (const [tool, input] of [
    ['workspace_fork', { workspace: 'main', name: 'never' }],
    ['workspace_merge', { workspace: 'main', fork: 'lasting' }],
    ['workspace_remove', { workspace: 'main', fork: 'lasting' }],
    ['read', { workspace: 'lasting', file_path: 'a.txt' }],
  ] as const)
    expect((await call(tool, input)).body, tool).toMatchObject({ error: { code: 'E_SANDBOX_UNAVAILABLE' } });
  // A person takes one away meanwhile, whose files nobody can.
  const main = { name: 'main', workspaceId: remote.workspaceId };
  const kept = { config: { workspaces: [main, { name: 'lasting', workspaceId: lasting }] } };
  mustBe(200, await account.send('PATCH', `/v1/agents/${remote.agentId}`, kept));
  const all = mustBe(200, await account.send('GET', '/v1/workspaces')).workspaces;
  expect(all).toHaveLength(3);
  const { workspaceId: gone } = all.find(({ name }: { name: string }) => name === 'gone');
  mustBe(200, await account.send('DELETE', `/v1/workspaces/${gone}`));
  for (const directory of [runner.root, runner.data]) unmountBelow(directory);

  runner.restart();
  await untilRunner(account, 'far');
  expect(await shell('lasting', 'cat a.txt mine')).toBe('one\nmine\n');
  const { forks } = mustBe(200, await account.send('GET', `${remote.path}/forks`));
  expect(forks.map(({ name }: { name: string }) => name)).toEqual(['lasting']);
  expect(madeOn(runner)).toHaveLength(2);

  mustBe(200, await account.send('DELETE', `/v1/agents/${remote.agentId}`));
  mustBe(200, await account.send('DELETE', remote.path));
  expect(madeOn(runner)).toHaveLength(1);
  const workspaces = [{ name: 'main', workspaceId: lasting }];
  const agentId = await account.newAgent({ sandbox: remote.sandboxId, workspaces });
  expect(mustBe(200, await account.call(agentId, 'bash', { command: 'cat a.txt mine' })).output).toBe('one\nmine\n');
  mustBe(200, await account.send('DELETE', `/v1/agents/${agentId}`));
  mustBe(200, await account.send('DELETE', `/v1/workspaces/${lasting}`));
  expect([...madeOn(runner), ...layersOf(runner), ...mountsIn(runner.root)]).toEqual([]);
});

test('a runner killed during a fork leaves no unfinished fork', async () => {
  const account = await platform.newAccount('killed');
  await using remote = await start(account);
  const { call, ok, shell, runner } = remote;
  await shell('main', 'mkdir d; cd d; for i in $(seq 2500); do echo $i > f$i; done');
  const forking = call('workspace_fork', { name: 'half' });
  await vi.waitFor(() => expect(listed(join(runner.data, 'forks'))).toHaveLength(1), { interval: 1, timeout: 20_000 });
  await restart(account, runner);
  expect((await forking).body).toMatchObject({ error: { code: 'E_RUNNER_LOST' } });
  expect(mustBe(200, await account.send('GET', `${remote.path}/forks`)).forks).toEqual([]);
  expect(mustBe(200, await account.send('GET', '/v1/workspaces')).workspaces).toHaveLength(1);
  await vi.waitFor(() => expect([...listed(join(runner.data, 'forks')), ...madeOn(runner)]).toHaveLength(1));
  await ok('workspace_fork', { name: 'half' });
  expect(await shell('half', 'ls d | wc -l')).toBe('2500\n');
});

test('a directory that the operator named is forked below the root, or not at all', async () => {
  using project = makeDirectory({ 'a.txt': 'mine\n' });
  using other = makeDirectory();
  using room = makeDirectory();
  chmodSync(project.path, 0o755);
  const account = await platform.newAccount('named');
  const names = ['--workspaces', `project=${project.path},other=${other.path}`];
  const token = await newToken(account, 'laptop');
  const sandbox = await account.newSandbox({ provider: 'remote', runner: 'laptop', permissionMode: 'bypass' });
  const workspaceId = await account.newWorkspace({}, 'project');
  const agentId = await account.newAgent({ sandbox, workspaces: [{ name: 'main', workspaceId }] });
  const call = (tool: string, input: object) => account.call(agentId, tool, input);
  {
    await using _bare = await startRunner({ url: platform.url, token, args: names });
    await untilRunner(account, 'laptop');
    const refused = (await call('workspace_fork', { name: 'try' })).body;
    expect(refused).toMatchObject({ error: { code: 'E_INVALID_INPUT', message: expect.stringContaining('--root') } });
  }
  await using runner = await startRunner({ url: platform.url, token, args: [...names, '--root', room.path] });
  await vi.waitFor(async () => mustBe(200, await call('read', { file_path: 'a.txt' })));
  await using _mounts = { [Symbol.asyncDispose]: async () => unmountBelow(room.path) };
  // Its own would be opened in place of the fork.
  expect((await call('workspace_fork', { name: 'other' })).body).toMatchObject({ error: { code: 'E_ALREADY_EXISTS' } });
  mustBe(200, await call('workspace_fork', { name: 'try' }));
  mustBe(200, await call('bash', { workspace: 'try', command: 'cat a.txt; echo forked > a.txt' }));
  expect(readFileSync(project.at('a.txt'), 'utf8')).toBe('mine\n');
  mustBe(200, await call('workspace_merge', { workspace: 'main', fork: 'try' }));
  expect(readFileSync(project.at('a.txt'), 'utf8')).toBe('forked\n');
  mustBe(200, await call('workspace_remove', { workspace: 'main', fork: 'try' }));
  expect(listed(join(room.path, 'workspaces'))).toEqual([]);
  expect(listed(project.path)).toEqual(['a.txt']);
  expect(runner.child.exitCode).toBe(null);
});

test('a read-only runner, and one of an older release, makes no fork', async () => {
  const account = await platform.newAccount('refused');
  await using readOnly = await start(account, { args: ['--readonly'] });
  mustBe(200, await readOnly.call('glob', { pattern: '*' }));
  writeFileSync(join(filesOf(readOnly.runner), 'a.txt'), 'as it was\n');
  expect((await readOnly.call('workspace_fork', { name: 'x' })).body).toMatchObject({ error: { code: 'E_READ_ONLY' } });
  const token = await newToken(account, 'old');
  startDialling(platform.url, { token: () => token });
  await untilRunner(account, 'old');
  const workspaceId = await account.newWorkspace({ home: 'old' });
  const path = `/v1/workspaces/${workspaceId}/forks`;
  const refused = { error: { code: 'E_SANDBOX_UNAVAILABLE', message: expect.stringContaining('older release') } };
  expect((await account.send('GET', path)).body).toMatchObject(refused);
  expect(mustBe(200, await account.send('GET', '/v1/workspaces')).workspaces).toHaveLength(2);

  // One that was never on any machine is not forked on this one instead.
  const unbound = await agentOn(account, { runner: 'absent' });
  const nowhere = await account.call(unbound.agentId, 'workspace_fork', { name: 'here' });
  expect(nowhere.body).toMatchObject({ error: { code: 'E_SANDBOX_UNAVAILABLE' } });
  expect(mustBe(200, await account.send('GET', '/v1/workspaces')).workspaces).toHaveLength(3);
});

test('a runner that returns another workspace as a fork gives no access to it', async () => {
  const account = await platform.newAccount('lied-to');
  const token = await newToken(account, 'liar');
  const other = await account.newWorkspace({ home: 'liar' });
  const workspaceId = await account.newWorkspace({ home: 'liar' });
  const createdAt = new Date(0).toISOString();
  const has = { history: true, watch: false, transactions: false, forks: true };
  const asked: unknown[] = [];
  startDialling(platform.url, {
    token: () => token,
    capabilities: ['storage', 'removal', 'forks'],
    onLink: (peer) =>
      peer.serve({
        'workspace.open': async () => ({ place: 'p', root: '/workspaces/w', access: 'read-write', has }),
        async 'forks.list'(_params, call) {
          const named = [other, workspaceId, 'ws_of-nobody'].map((id) => ({ name: id, workspaceId: id, createdAt }));
          call.writable(0).end(JSON.stringify(named));
          return null;
        },
        'forks.create': async () => ({ name: 'x', workspaceId: other, createdAt }),
        'forks.merge': async (params) => asked.push(params),
        'workspace.remove': async () => ({ removed: true }),
      }),
  });
  await untilRunner(account, 'liar');
  const path = `/v1/workspaces/${workspaceId}`;
  expect(mustBe(200, await account.send('GET', `${path}/forks`)).forks).toEqual([]);
  expect((await account.send('POST', `${path}/merge`, { fork: other })).status).toBe(404);
  expect((await account.send('POST', `${path}/forks`, { name: 'x' })).status).not.toBe(201);
  expect(asked).toEqual([]);
  const { workspaces } = mustBe(200, await account.send('GET', '/v1/workspaces'));
  expect(workspaces.map((one: { workspaceId: string }) => one.workspaceId).sort()).toEqual([other, workspaceId].sort());
});
