import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { makeDirectory } from '../support/harness.ts';
import { mustBe, openAccount, type Platform, startPlatform } from '../support/servers/platform.ts';
import { agentOn, filesOf, newToken, startRemote, startRunner, untilRunner } from './runner-fixture.ts';

/** What an older system with runners got wrong, by the numbers of its list (`spec/acolyte-xbot.md`, C2). */

let platform: Platform;
let remote: Awaited<ReturnType<typeof startRemote>>;
beforeAll(async () => {
  platform = await startPlatform();
  remote = await startRemote(platform, { name: 'far' });
});
afterAll(async () => {
  await remote[Symbol.asyncDispose]();
  await platform[Symbol.asyncDispose]();
});

test.each([
  ['one that was never made', { runner: 'nobody' }, /start croft runner on that machine/],
  ['one that is not connected', { runner: 'asleep' }, /start croft runner on that machine/],
  ['labels that no runner has', { labels: { gpu: 'yes' } }, /croft runner with --label/],
])(
  'C2-1: a sandbox on %s runs nothing anywhere, and never on the server',
  async (_, choice: { runner?: string; labels?: Record<string, string> }, advice) => {
    const { account } = remote;
    if (choice.runner === 'asleep') await newToken(account, 'asleep');
    const { agentId, workspaceId } = await agentOn(account, choice);
    const marker = join(platform.data, 'ran-on-the-host');
    for (const [tool, input] of [
      ['bash', { command: `touch ${marker}` }],
      ['write', { file_path: 'a.txt', content: 'x' }],
      ['read', { file_path: 'a.txt' }],
      ['grep', { pattern: 'x' }],
      ['run_tests', {}],
    ] as const) {
      const { status, body } = await account.call(agentId, tool, input);
      expect([tool, status, body.error?.code]).toEqual([tool, 503, 'E_SANDBOX_UNAVAILABLE']);
      expect(body.error.message).toContain('nothing runs anywhere else');
      expect(body.error.hint).toMatch(advice);
      expect(body.error.hint).not.toContain('croft doctor');
    }
    expect(existsSync(marker)).toBe(false);
    // The workspace is not bound to the missing machine either.
    expect(mustBe(200, await account.send('GET', `/v1/workspaces/${workspaceId}`)).config.home).toBeUndefined();
    expect(existsSync(join(platform.data, 'workspaces'))).toBe(false);
  },
);

test('C2-2: no tool names a runner, and the model never sees a token', async () => {
  const { account, agentId } = remote;
  const tools = await account.tools(agentId);
  expect(tools.filter(({ name, inputSchema }) => /runner/i.test(`${name} ${JSON.stringify(inputSchema)}`))).toEqual([]);
  const words = JSON.stringify(await Promise.all(['/v1/runners', '/v1/keys'].map((path) => account.send('GET', path))));
  expect(words).not.toContain(readFileSync(remote.runner.tokenFile, 'utf8').trim());
  const inside = await remote.ok('bash', {
    command: 'cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr "\\0" "\\n"; env',
  });
  expect(inside.text).not.toMatch(/croft_|token-file|RUNNER_CANARY/);
});

test('C2-4: a runner whose provider fails reports it, and opens no weaker one', async () => {
  const account = await platform.newAccount('weak');
  const token = await newToken(account, 'bare');
  await using runner = await startRunner({ url: platform.url, token, args: ['--provider', 'none'] });
  await vi.waitFor(() => expect(runner.child.exitCode).toBe(2));
  expect(runner.output.stderr()).toContain('--provider none cannot hold the network policy deny-all');
});

test('C2-5: a link in the workspace lets no write out of it', async () => {
  using outside = makeDirectory({ 'canary.txt': 'untouched' });
  await remote.ok('write', { file_path: 'here.txt', content: 'x' });
  symlinkSync(outside.path, join(filesOf(remote.runner), 'out'));
  for (const file of ['out/canary.txt', 'out/new.txt', 'out/deep/new.txt']) {
    const { isError, structured } = await remote.call('write', { file_path: file, content: 'changed' });
    expect([isError, structured.error.code]).toEqual([true, 'E_SANDBOX_VIOLATION']);
    expect(JSON.stringify(structured)).not.toContain(outside.path);
  }
  expect(readdirSync(outside.path)).toEqual(['canary.txt']);
  expect(readFileSync(outside.at('canary.txt'), 'utf8')).toBe('untouched');
});

test('C2-6: a directory beside a root with the same beginning is outside, and a root may be a link', async () => {
  using fixture = makeDirectory({ 'ws/own.txt': 'own', 'ws-evil/canary.txt': 'theirs' });
  symlinkSync(fixture.at('ws'), fixture.at('linked'));
  const account = await platform.newAccount('prefix');
  const args = ['--workspaces', `project=${fixture.at('linked')}`];
  await using runner = await startRunner({ url: platform.url, token: await newToken(account, 'pre'), args });
  await untilRunner(account, 'pre');
  const sandbox = await account.newSandbox({ provider: 'remote', runner: 'pre', permissionMode: 'bypass' });
  const workspaceId = await account.newWorkspace({}, 'project');
  const agentId = await account.newAgent({ sandbox, workspaces: [{ name: 'main', workspaceId }] });
  expect(mustBe(200, await account.call(agentId, 'read', { file_path: 'own.txt' })).content).toContain('own');
  for (const path of [`${fixture.path}/ws-evil/canary.txt`, '../ws-evil/canary.txt', '/workspaces/project-evil/x']) {
    const { body } = await account.call(agentId, 'read', { file_path: path });
    expect(body.error.code).toBe('E_SANDBOX_VIOLATION');
  }
  expect(runner.child.exitCode).toBe(null);
});

test('C2-7: commands there have no environment of the runner, and run as the owner of the workspace', async () => {
  const { text } = await remote.ok('bash', {
    command: 'env; id -u; ls /root /home 2>&1; cat /proc/1/environ | tr "\\0" "\\n"',
  });
  expect(text).not.toMatch(/RUNNER_CANARY|CROFT_|of-the-runner/);
  const owner = statSync(filesOf(remote.runner)).uid;
  expect(text).toMatch(new RegExp(`^${owner === 0 ? '\\d+' : owner}$`, 'm'));
});

test('C2-8: a token belongs to one runner of one account, and is refused for anything else', async () => {
  const account = await platform.newAccount('tokens');
  const token = await newToken(account, 'mine');
  // The token is refused by every route for people.
  expect((await openAccount(platform.url, token, '').send('GET', '/v1/runners')).status).toBe(401);
  await using impostor = await startRunner({ url: platform.url, token, args: ['--name', 'theirs'] });
  await impostor.output.find(/(FORBIDDEN|this token is of the runner mine)/);
  // No key of an account is one of a runner.
  await using person = await startRunner({ url: platform.url, token: account.secret });
  await person.output.find(/(AUTH_FAILED|unknown, expired or revoked)/);
  // In the database there is no token, and there is none in what is listed.
  const kept = readFileSync(join(platform.data, 'croft.db'), 'latin1');
  expect(kept).not.toContain(token);
});

test('C2-8: a token that is revoked, replaced or expired is refused at once', async () => {
  const account = await platform.newAccount('revoked');
  const token = await newToken(account, 'soon');
  await using runner = await startRunner({ url: platform.url, token });
  await untilRunner(account, 'soon');
  const replaced = mustBe(200, await account.send('POST', '/v1/runners/soon/rotate')).token;
  await untilRunner(account, 'soon', 'offline');
  await runner.output.find(/unknown, expired or revoked/);
  // The operator puts the new one where the old one was.
  writeFileSync(runner.tokenFile, replaced);
  runner.child.kill('SIGTERM');
  await vi.waitFor(() => expect(runner.child.exitCode).toBe(0));
  runner.restart();
  await untilRunner(account, 'soon');
  mustBe(200, await account.send('DELETE', '/v1/runners/soon'));
  expect((await account.send('GET', '/v1/runners/soon')).status).toBe(404);
  await runner.output.find(/unknown, expired or revoked/);
  const over = { name: 'short', expiresAt: new Date(Date.now() + 5000).toISOString() };
  const short = mustBe(201, await account.send('POST', '/v1/runners', over)).token;
  await using brief = await startRunner({ url: platform.url, token: short });
  await brief.output.find(/unknown, expired or revoked/);
});

test('C2-10: undo changes files of the runner, and never the same path on the server', async () => {
  const { text } = await remote.ok('bash', { command: 'pwd' });
  const path = text.trim().split('\n')[0] ?? '';
  expect(path).toBe('/workspaces/main');
  await remote.ok('write', { file_path: 'back.txt', content: 'one' });
  await remote.ok('write', { file_path: 'back.txt', content: 'two' });
  await remote.ok('undo', {});
  expect((await remote.ok('read', { file_path: 'back.txt' })).text).toContain('one');
  expect(existsSync('/workspaces/main')).toBe(false);
});

test('C2-11: an impossible write is an error, bytes arrive unchanged, and no shell reads them', async () => {
  const content = `${'x'.repeat(1024 * 1024)}\n'"$(touch pwned)\`touch pwned\`\n`;
  await remote.ok('write', { file_path: "it's $HOME.txt", content });
  expect(readFileSync(join(filesOf(remote.runner), "it's $HOME.txt"), 'utf8')).toBe(content);
  expect(existsSync(join(filesOf(remote.runner), 'pwned'))).toBe(false);
  mkdirSync(join(filesOf(remote.runner), 'taken'));
  const refused = await remote.call('write', { file_path: 'taken', content: 'x' });
  expect([refused.isError, refused.structured.error.code]).toEqual([true, 'E_NOT_A_FILE']);
  await remote.ok('write', { file_path: 'unread.txt', content: 'first' });
  writeFileSync(join(filesOf(remote.runner), 'unread.txt'), 'by a person');
  const stale = await remote.call('write', { file_path: 'unread.txt', content: 'second' });
  expect([stale.isError, stale.structured.error.code]).toEqual([true, 'E_STALE']);
});

test('C2-12: a command that times out is reported, ends with everything it started, and runs once', async () => {
  const { structured } = await remote.call('bash', {
    command: 'echo run >> runs.txt; (sleep 1000 & echo $! > child.pid; wait)',
    timeout: 1,
  });
  expect(structured.timedOut).toBe(true);
  const { text } = await remote.ok('bash', { command: 'cat runs.txt; kill -0 $(cat child.pid) 2>&1; ps ax' });
  expect(text.match(/^run$/gm)).toHaveLength(1);
  expect(text).toContain('No such process');
  expect(text).not.toContain('sleep 1000');
});

test('C2-15: calls fail at once when a runner dies, and a runner that is asked to stop stops', async () => {
  await using own = await startRemote(platform, { name: 'dies' });
  const started = vi.fn();
  const slow = own.call('bash', { command: 'echo on > on.txt; sleep 1000', timeout: 600 }).finally(started);
  await vi.waitFor(() => expect(existsSync(join(filesOf(own.runner), 'on.txt'))).toBe(true));
  await own.runner.stop('SIGKILL');
  own.runner.restart();
  const { isError, structured } = await slow;
  expect([isError, structured.error.code]).toEqual([true, 'E_RUNNER_LOST']);
  await untilRunner(own.account, 'dies');
  expect((await own.ok('bash', { command: 'echo again' })).text).toContain('again');
  own.runner.child.kill('SIGINT');
  await vi.waitFor(() => expect(own.runner.child.exitCode).toBe(0));
});

test('C2-17: a large file arrives complete, in pieces', async () => {
  const bytes = Buffer.alloc(24 * 1024 * 1024, 'croft');
  writeFileSync(join(filesOf(remote.runner), 'large.bin'), bytes);
  const { account, workspaceId } = remote;
  const answer = await fetch(`${platform.url}/v1/workspaces/${workspaceId}/file?path=large.bin`, {
    headers: { authorization: `Bearer ${account.secret}` },
  });
  expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
});

test('C2-18: a program there is limited to the memory of its sandbox, and the answer says so', async () => {
  const { text } = await remote.call('bash', {
    // One line without an end, which `tail` holds in memory: more than a sandbox has, and less than would hurt a host.
    command: 'head -c 3000000000 /dev/zero | tail -n 1 | wc -c',
    timeout: 100,
  });
  expect(text).not.toContain('3000000000');
  expect(text).toContain('memory');
});

test('C2-19: a runner reads only its roots and its data', async () => {
  using fixture = makeDirectory({ 'root/.keep': '', 'neighbour/secret.txt': 'canary' });
  const account = await platform.newAccount('apart');
  const token = await newToken(account, 'apart');
  await using runner = await startRunner({ url: platform.url, token, args: ['--root', fixture.at('root')] });
  await untilRunner(account, 'apart');
  const { agentId } = await agentOn(account, { runner: 'apart' });
  mustBe(200, await account.call(agentId, 'bash', { command: 'echo x > y; ls -R /' }));
  expect(readdirSync(fixture.at('neighbour'))).toEqual(['secret.txt']);
  expect(readdirSync(fixture.path).sort()).toEqual(['neighbour', 'root']);
  expect(runner.child.exitCode).toBe(null);
});

test('C2-20: a download from a workspace there is complete, or an error', async () => {
  await using own = await startRemote(platform, { name: 'export' });
  await own.ok('write', { file_path: 'a,b/c.txt', content: 'x' });
  const get = () =>
    fetch(`${platform.url}/v1/workspaces/${own.workspaceId}/download`, {
      headers: { authorization: `Bearer ${own.account.secret}` },
    });
  const zip = Buffer.from(await (await get()).arrayBuffer()).toString('latin1');
  expect(zip).toContain('a,b/c.txt');
  await own.runner.stop('SIGTERM');
  await untilRunner(own.account, 'export', 'offline');
  const refused = await get();
  expect([refused.status, (await refused.json()).error.code]).toEqual([503, 'E_SANDBOX_UNAVAILABLE']);
});

test('C2-21: background commands have a PATH, and a killed one is reported as killed', async () => {
  const command = 'node -e "" 2>/dev/null; command -v ls; echo "$EXTRA"; sleep 1000';
  const { structured } = await remote.ok('bash', { command, run_in_background: true });
  await vi.waitFor(async () => {
    const { text } = await remote.ok('bash_output', { shell_id: structured.shell_id });
    expect(text).toContain('/ls');
  });
  await remote.ok('kill_shell', { shell_id: structured.shell_id });
  const gone = await remote.call('bash_output', { shell_id: structured.shell_id });
  expect(gone.isError).toBe(true);
});

test('C2-22: the working directory comes from the runner, and no path of the server is shown', async () => {
  const texts = [
    (await remote.ok('workspaces', {})).text,
    (await remote.ok('bash', { command: 'cd ~ && pwd; cd /; pwd' })).text,
    (await remote.call('read', { file_path: '/no/such' })).text,
    JSON.stringify(mustBe(200, await remote.account.send('GET', `/v1/agents/${remote.agentId}/prompt`))),
  ].join('\n');
  for (const path of [platform.data, remote.runner.root, remote.runner.data, process.env.HOME ?? '/root/x'])
    expect(texts).not.toContain(`${path}/`);
  await remote.ok('bash', { command: 'mkdir -p deep/down; echo x > file' });
  const refused = await remote.call('cd', { path: 'file' });
  expect(refused.isError).toBe(true);
  await remote.ok('cd', { path: 'deep/down' });
  expect((await remote.ok('bash', { command: 'pwd' })).text).toContain('/workspaces/main/deep/down');
  await remote.ok('cd', { path: '/workspaces/main' });
});

test('C2-23: workspaces with similar names are separate', async () => {
  const { account } = remote;
  const sandbox = await account.newSandbox({ provider: 'remote', runner: 'far', permissionMode: 'bypass' });
  const names = ['a/b', 'a:b', 'a_b'];
  for (const name of names) {
    const workspaceId = await account.newWorkspace({}, name);
    const agentId = await account.newAgent({ sandbox, workspaces: [{ name: 'main', workspaceId }] });
    mustBe(200, await account.call(agentId, 'write', { file_path: 'who.txt', content: name }));
    expect(mustBe(200, await account.call(agentId, 'bash', { command: 'ls; cat who.txt' })).output).toBe(
      `who.txt\n${name}`,
    );
  }
});
