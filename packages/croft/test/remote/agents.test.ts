import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mustBe, type Platform, startPlatform } from '../support/servers/platform.ts';
import { connectTerminal, newTicket } from '../terminals/fixture.ts';
import { filesOf, newToken, startRemote, startRunner, untilRunner } from './runner-fixture.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform[Symbol.asyncDispose]());

test('an agent works on a runner as on the server, and no file of it is on the server', async () => {
  await using remote = await startRemote(platform, { name: 'works' });
  const { ok, runner } = remote;
  await ok('write', { file_path: 'src/a.txt', content: 'hello\n' });
  expect((await ok('read', { file_path: 'src/a.txt' })).text).toContain('hello');
  const bash = await ok('bash', { command: 'pwd; cat src/a.txt; env; id -u' });
  expect(bash.text).toContain('/workspaces/main');
  expect(bash.text).toContain('hello');
  // Neither of the runner's environment nor of the server's.
  expect(bash.text).not.toMatch(/RUNNER_CANARY|CROFT_|admin-token/);
  expect((await ok('glob', { pattern: '**/*.txt' })).text).toContain('src/a.txt');
  expect((await ok('grep', { pattern: 'hel+o' })).text).toContain('src/a.txt');
  await ok('edit', { file_path: 'src/a.txt', old_string: 'hello', new_string: 'goodbye' });
  expect(readFileSync(join(filesOf(runner), 'src/a.txt'), 'utf8')).toBe('goodbye\n');
  expect(readdirSync(platform.data)).not.toContain('workspaces');
  // No path of either machine is in anything that was answered.
  for (const text of [bash.text]) expect(text).not.toMatch(new RegExp(`${runner.root}|${platform.data}`));
});

test.runIf(process.getuid?.() === 0)('a runner may run as an ordinary user, who owns everything on it', async () => {
  const uid = 61_234;
  await using remote = await startRemote(platform, { name: 'plain', uid });
  const { ok, runner } = remote;
  await ok('write', { file_path: 'a.txt', content: 'hello\n' });
  expect((await ok('bash', { command: 'cat a.txt; echo made > b.txt' })).text).toBe('hello\n');
  for (const name of ['a.txt', 'b.txt']) expect(statSync(join(filesOf(runner), name)).uid).toBe(uid);
  await ok('undo', {});
  expect(readdirSync(filesOf(runner))).toEqual(['a.txt']);
});

test('a change of a command there can be undone there', async () => {
  await using remote = await startRemote(platform, { name: 'undoes' });
  const { ok } = remote;
  await ok('write', { file_path: 'keep.txt', content: 'first\n' });
  await ok('bash', { command: 'rm keep.txt; echo new > made.txt' });
  await ok('undo', {});
  expect((await ok('bash', { command: 'ls; cat keep.txt' })).text).toContain('keep.txt\nfirst');
  await ok('snapshot_create', { name: 'one' });
  await ok('write', { file_path: 'later.txt', content: 'x' });
  await ok('snapshot_restore', { name: 'one' });
  expect((await ok('list', {})).text).not.toContain('later.txt');
});

test('background commands there go on between calls and end with their session', async () => {
  await using remote = await startRemote(platform, { name: 'background' });
  const { ok } = remote;
  const started = await ok('bash', { command: 'while :; do echo tick; sleep 0.1; done', run_in_background: true });
  const id = started.structured.shell_id;
  expect((await ok('bash', { command: 'ps ax' })).text).toContain('sleep');
  expect((await ok('bash_output', { shell_id: id })).text).toContain('tick');
  await ok('kill_shell', { shell_id: id });
});

test('a command in a transaction there changes nothing until its commit', async () => {
  await using remote = await startRemote(platform, { name: 'transacts' });
  const { ok } = remote;
  await ok('write', { file_path: 'a.txt', content: 'old\n' });
  const begun = await ok('bash', { command: 'echo new > a.txt', transaction: true });
  expect((await ok('read', { file_path: 'a.txt' })).text).toContain('old');
  await ok('transaction_commit', { transaction: begun.structured.changes.transaction });
  expect((await ok('read', { file_path: 'a.txt' })).text).toContain('new');
});

test('people see the files of a workspace on its runner', async () => {
  await using remote = await startRemote(platform, { name: 'people' });
  const { account, ok, workspaceId } = remote;
  await ok('write', { file_path: 'a.txt', content: 'from the agent\n' });
  const answer = await fetch(`${platform.url}/v1/workspaces/${workspaceId}/file?path=a.txt`, {
    headers: { authorization: `Bearer ${account.secret}` },
  });
  expect([answer.status, await answer.text()]).toEqual([200, 'from the agent\n']);
});

test('people see there what a call changed, files as they were, and what is in them', async () => {
  await using remote = await startRemote(platform, { name: 'past' });
  const { account, ok, workspaceId } = remote;
  const see = async (path: string) => mustBe(200, await account.send('GET', `/v1/workspaces/${workspaceId}/${path}`));
  await ok('write', { file_path: 'src/a.txt', content: 'one\n' });
  mustBe(201, await account.send('POST', `/v1/workspaces/${workspaceId}/snapshots`, { name: 'first' }));
  await ok('bash', { command: 'echo two > src/a.txt' });
  const [checkpoint] = (await see('checkpoints')).checkpoints;
  const { changes, ...rest } = await see(`checkpoints/${checkpoint.checkpointId}/diff`);
  expect(rest).toMatchObject({ paths: 1, checkpoint: { tool: 'bash' } });
  expect(changes).toMatchObject([{ path: 'src/a.txt', diff: expect.stringContaining('-one\n+two') }]);
  const { audit } = mustBe(200, await account.send('GET', '/v1/audit?order=newest&kind=call&tool=bash'));
  expect(checkpoint.call).toBe(JSON.parse(audit[0].details).call);
  const { files } = await see('files?snapshot=first&path=src');
  expect(files).toMatchObject([{ path: 'src/a.txt', sizeBytes: 4 }]);
  const earlier = await fetch(`${platform.url}/v1/workspaces/${workspaceId}/file?snapshot=first&path=src/a.txt`, {
    headers: { authorization: `Bearer ${account.secret}` },
  });
  expect([earlier.status, await earlier.text()]).toEqual([200, 'one\n']);
  expect((await see('search?pattern=tw.')).matches).toEqual([{ path: 'src/a.txt', line: 1, text: 'two' }]);
  const missing = await account.send('GET', `/v1/workspaces/${workspaceId}/checkpoints/ck_none/diff`);
  expect([missing.status, missing.body.error.code]).toEqual([404, 'E_NOT_FOUND']);
});

test('a directory that the operator of a runner named is the workspace of that name', async () => {
  const account = await platform.newAccount('named');
  const token = await newToken(account, 'laptop');
  await using runner = await startRunner({ url: platform.url, token });
  writeFileSync(join(runner.root, 'mine.txt'), 'my own\n');
  await runner.stop('SIGTERM');
  await using other = await startRunner({ url: platform.url, token, args: ['--workspaces', `project=${runner.root}`] });
  await untilRunner(account, 'laptop');
  const sandbox = await account.newSandbox({ provider: 'remote', runner: 'laptop', permissionMode: 'bypass' });
  const workspaceId = await account.newWorkspace({}, 'project');
  const agentId = await account.newAgent({ sandbox, workspaces: [{ name: 'main', workspaceId }] });
  expect(mustBe(200, await account.call(agentId, 'read', { file_path: 'mine.txt' })).content).toContain('my own');
  // Another workspace it does not have, and makes none.
  const missing = await account.newWorkspace({}, 'elsewhere');
  const lost = await account.newAgent({ sandbox, workspaces: [{ name: 'main', workspaceId: missing }] });
  const refused = await account.call(lost, 'read', { file_path: 'mine.txt' });
  expect([refused.status, refused.body.error.code]).toEqual([503, 'E_SANDBOX_UNAVAILABLE']);
  expect(other.child.exitCode).toBe(null);
});

test('on a runner with --readonly files can be read, and nothing can be changed or run', async () => {
  await using remote = await startRemote(platform, { name: 'looks', args: ['--readonly'] });
  const { account, ok, call, runner, workspaceId } = remote;
  await ok('glob', { pattern: '*' });
  const fileTree = filesOf(runner);
  writeFileSync(join(fileTree, 'a.txt'), 'as it was\n');
  expect((await ok('read', { file_path: 'a.txt' })).text).toContain('as it was');
  for (const [tool, input] of [
    ['write', { file_path: 'b.txt', content: 'x' }],
    ['edit', { file_path: 'a.txt', old_string: 'was', new_string: 'is' }],
    ['bash', { command: 'touch b.txt' }],
    ['bash', { command: 'touch b.txt', transaction: true }],
  ] as const) {
    const { isError, structured } = await call(tool, input);
    expect([tool, isError, structured.error?.code]).toEqual([tool, true, 'E_READ_ONLY']);
  }
  // Nor for people.
  const url = `${platform.url}/v1/workspaces/${workspaceId}/file?path=`;
  const headers = { authorization: `Bearer ${account.secret}` };
  for (const [method, path] of [
    ['PUT', 'b.txt'],
    ['DELETE', 'a.txt'],
  ] as const)
    expect((await fetch(`${url}${path}`, { method, headers })).ok, method).toBe(false);
  using screen = connectTerminal(platform.url, (await newTicket(account, remote)).path);
  expect(await screen.untilMessage('error')).toMatchObject({ code: 'E_READ_ONLY' });
  expect(readdirSync(fileTree)).toEqual(['a.txt']);
  expect(readFileSync(join(fileTree, 'a.txt'), 'utf8')).toBe('as it was\n');
});
