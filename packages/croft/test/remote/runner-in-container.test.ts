import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEngine } from '../support/sandboxes/docker-engine.ts';
import { type Account, connectAgent, type Platform, startPlatform } from '../support/servers/platform.ts';
import { hasToolchains } from '../support/toolchains.ts';
import { connectTerminal, newTicket } from '../terminals/fixture.ts';
import { agentOn, filesOf, newToken, untilRunner } from './runner-fixture.ts';
import { prepareRunnerInContainer, type RunnerInContainerOptions } from './runner-in-container.ts';

const engine = (await hasToolchains('docker client')) ? await startEngine() : undefined;

const profiles = /--security-opt \w+=unconfined/g;
const needs =
  'docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined';

describe.runIf(engine)('croft runner in a container', () => {
  let platform: Platform;
  let account: Account;
  beforeAll(async () => {
    // Which is what accounts need for a runner without isolation.
    platform = await startPlatform(['--network', 'allow-all']);
    account = await platform.newAccount();
  });
  afterAll(async () => {
    await platform[Symbol.asyncDispose]();
    await engine?.[Symbol.asyncDispose]();
  });

  async function prepare(name: string, given: Partial<RunnerInContainerOptions> = {}) {
    if (!engine) throw new Error('there is no engine');
    return prepareRunnerInContainer(engine, {
      url: platform.url,
      token: await newToken(account, name),
      name,
      ...given,
    });
  }

  async function connect(agentId: string) {
    const agent = await connectAgent(account, agentId);
    return {
      async ok(tool: string, input: Record<string, unknown> = {}): Promise<string> {
        const { text, isError } = await agent.call(tool, input);
        if (isError) throw new Error(text);
        return text;
      },
      call: agent.call,
      [Symbol.asyncDispose]: agent[Symbol.asyncDispose],
    };
  }

  test('as documented it has all features of a runner, and kill -9 loses no acknowledged change', async () => {
    await using runner = await prepare('documented');
    await runner.start();
    await untilRunner(account, 'documented');
    const setup = await agentOn(account, { runner: 'documented' });
    await using agent = await connect(setup.agentId);
    const { ok } = agent;

    await ok('write', { file_path: 'a.txt', content: 'hello\n' });
    await ok('edit', { file_path: 'a.txt', old_string: 'hello', new_string: 'goodbye' });
    const fence = await ok('bash', {
      command: 'cat a.txt; pwd; grep -E "CapBnd|Seccomp:" /proc/self/status; ls /croft /srv',
    });
    expect(fence).toMatch(/^goodbye\n\/workspaces\/main\nCapBnd:\t0+\nSeccomp:\t2\n/);
    expect(fence).toContain("cannot access '/srv'");
    expect(await ok('grep', { pattern: 'goodb' })).toContain('a.txt');
    await ok('snapshot_create', { name: 'one' });
    await ok('bash', { command: 'rm a.txt; echo made > b.txt' });
    await ok('undo');
    expect(await ok('bash', { command: 'ls' })).toBe('a.txt\n');
    await ok('bash', { command: 'echo in > layer.txt', transaction: true });
    using screen = connectTerminal(platform.url, (await newTicket(account, setup)).path);
    await screen.untilMessage('attached');
    screen.type('echo $((40 + 2))-typed\n');
    await screen.untilText(/42-typed/);

    const { structured } = await agent.call('bash', {
      command: 'while :; do echo x; sleep 0.1; done',
      run_in_background: true,
    });
    expect((await agent.call('bash_output', { shell_id: structured.shell_id })).isError).toBe(false);
    const writes = Array.from({ length: 20 }, (_, index) => `w${index}.txt`);
    for (const file_path of writes) await ok('write', { file_path, content: file_path });
    await runner.docker('kill', '--signal', 'KILL', 'documented');
    await runner.docker('rm', 'documented');
    await untilRunner(account, 'documented', 'reconnecting');
    await runner.start();
    await untilRunner(account, 'documented');
    const files = filesOf({ root: join(runner.files, 'root') });
    expect(readdirSync(files).sort()).toEqual(['a.txt', ...writes].sort());
    for (const name of writes) expect(readFileSync(join(files, name), 'utf8')).toBe(name);
    expect(statSync(join(files, 'a.txt')).uid).toBe(1000);
    expect(await ok('bash', { command: 'cat w19.txt; ps ax' })).not.toContain('sleep');
    await ok('snapshot_restore', { name: 'one' });
    expect(await ok('bash', { command: 'ls' })).toBe('a.txt\n');
  });

  test('without a needed option it names that option, and does not connect', async () => {
    const lacking: readonly (readonly [Partial<RunnerInContainerOptions>, string])[] = [
      [{ without: profiles }, needs],
      [{ options: ['--user', '1001:1001'] }, '--root (/srv/croft/root) cannot be written by uid 1001'],
      [{ without: /--tmpfs \/tmp/g }, 'the temporary directory /tmp cannot be used: it is read-only'],
      [{ options: ['--user', '0:0', '--cap-add', 'DAC_OVERRIDE'] }, 'in a container with --user 1000:1000'],
    ];
    const ends = lacking.map(async ([given], index) => {
      await using runner = await prepare(`lacking-${index}`, given);
      await runner.start();
      return await runner.ended();
    });
    expect(await Promise.all(ends)).toEqual(
      lacking.map(([, said]) => ({ code: 2, said: expect.stringContaining(said) })),
    );
    const { agentId } = await agentOn(account, { runner: 'lacking-0' });
    const refused = await account.call(agentId, 'bash', { command: 'touch made' });
    expect([refused.status, refused.body.error.code]).toEqual([503, 'E_SANDBOX_UNAVAILABLE']);
  });

  test('without isolation it relies on the container; as first process it reaps, and ends on a signal', async () => {
    const args = ['--provider', 'none', '--network', 'allow-all'];
    await using runner = await prepare('bare', { without: profiles, by: ['env', '-u', 'HOME'], args });
    await runner.start();
    await untilRunner(account, 'bare');
    const { agentId } = await agentOn(account, { runner: 'bare', network: { mode: 'allow-all' } });
    await using agent = await connect(agentId);
    const seen = await agent.ok('bash', { command: 'tr "\\0" " " < /proc/1/cmdline; id -u; touch made /usr/made; ls' });
    expect(seen).toMatch(/croft-init --first .*start.mjs runner/);
    expect(seen).toMatch(/1000\n.*Read-only file system\nmade\n$/);
    // Nobody else is there to become its parent.
    await runner.docker('exec', 'bare', 'sh', '-c', '(sleep 0.2 &)');
    await runner.untilNone(/sleep|defunct|sh -c/);
    await agent.ok('bash', { command: 'sleep 600', run_in_background: true });
    await runner.docker('stop', '--time', '60', 'bare');
    expect(await runner.ended()).toMatchObject({ code: 0 });
    await untilRunner(account, 'bare', 'offline');
  });
});
