import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { startRemote } from '../remote/runner-fixture.ts';
import { makeDirectory, runCroft } from '../support/harness.ts';
import { makeProject, script } from '../support/lint-fixture.ts';
import { startEngine } from '../support/sandboxes/docker-engine.ts';
import { mustBe, startPlatform } from '../support/servers/platform.ts';

const docker = await startEngine();
afterAll(() => docker?.[Symbol.asyncDispose]());

const onDocker = ['--sandbox', 'docker'];

describe.runIf(docker)('--sandbox docker', () => {
  const env = { ...docker?.environment };
  const containers = async () => (await docker?.containers()) ?? [];
  const untilGone = () => vi.waitFor(async () => expect(await containers()).toEqual([]));

  test('runs a command in a container, which is gone afterwards', async () => {
    using fixture = makeDirectory({ 'a.txt': 'of the workspace\n' });
    const command = 'cat a.txt; cat /proc/1/cmdline | tr "\\0" " "; echo made > b.txt; cat b.txt';
    const args = ['tool', 'bash', JSON.stringify({ command }), '--workspace', fixture.path, ...onDocker];
    const { exitCode, stdout } = await runCroft(args, { env });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^of the workspace\n\/run\/croft\/init --container .+ made\n$/);
    await untilGone();
  });

  test('restores source files that a linter changed', async () => {
    using project = makeProject({
      ...{ 'package.json': '{}', 'eslint.config.js': '', '.gitignore': 'node_modules\n', 'src/a.js': 'let  a;\n' },
      'node_modules/.bin/eslint': script(
        'sed -i "s/  */ /g" src/a.js; echo \'[{"filePath":"src/a.js","messages":[]}]\'',
      ),
    });
    const args = ['tool', 'run_lint', '{}', '--workspace', project.path, ...onDocker];
    const { stdout } = await runCroft(args, { env });
    expect(stdout).toContain('(eslint changed files, which were put back: src/a.js)');
    expect(readFileSync(project.at('src/a.js'), 'utf8')).toBe('let  a;\n');
    await untilGone();
  });

  test('may be named by records on such a server, and kill -9 of the server leaves no container', async () => {
    await using platform = await startPlatform(onDocker, env);
    const account = await platform.newAccount();
    const refused = await account.send('POST', '/v1/sandboxes', { name: 'other', config: { provider: 'bubblewrap' } });
    expect(JSON.stringify(mustBe(400, refused))).toContain('config.provider must be one of: docker, remote');
    const sandbox = await account.newSandbox({ provider: 'docker', permissionMode: 'bypass' });
    const workspaceId = await account.newWorkspace();
    const agentId = await account.newAgent({ sandbox, workspaces: [{ name: 'main', workspaceId }] });
    const command = 'hostname; sleep 600 & sleep 601 & echo started';
    const answer = mustBe(200, await account.call(agentId, 'bash', { command }));
    expect(JSON.stringify(answer)).toContain('croft\\nstarted');
    expect(await containers()).toEqual([expect.stringMatching(/^\/croft-/)]);
    platform.child.kill('SIGKILL');
    await once(platform.child, 'exit');
    await untilGone();
  });

  test('works on a runner whose operator allows it', async () => {
    await using platform = await startPlatform();
    await using remote = await startRemote(platform, { args: ['--provider', 'docker'], env });
    const runner = mustBe(200, await remote.account.send('GET', '/v1/runners/far'));
    expect(runner.report).toMatchObject({ provider: 'docker' });
    await remote.ok('write', { file_path: 'a.txt', content: 'over the link\n' });
    const { text } = await remote.ok('bash', { command: 'cat a.txt; pwd; hostname' });
    expect(text).toMatch(/^over the link\n\/workspaces\/\S+\ncroft/);
    expect(await containers()).toHaveLength(1);
    await remote.runner.stop('SIGKILL');
    await untilGone();
  });
});

test('without Docker runs nothing, with or without a container', async () => {
  using fixture = makeDirectory();
  const args = ['tool', 'bash', '{"command":"touch made"}', '--workspace', fixture.path, ...onDocker];
  const env = { CROFT_DOCKER_HOST: `unix://${fixture.at('absent')}` };
  const { exitCode, stdout, stderr } = await runCroft(args, { env });
  expect([exitCode, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/E_SANDBOX_UNAVAILABLE.*Docker does not answer on this machine/);
  expect(stderr).not.toContain(fixture.path);
  // A process there could see paths that no sandbox may see, and has none of its files.
  expect(() => loadConfig({ CROFT_DOCKER_HOST: 'tcp://127.0.0.1:2375' })).toThrow(/^CROFT_DOCKER_HOST: takes a socket/);
});
