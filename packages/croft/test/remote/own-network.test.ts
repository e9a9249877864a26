import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Account, connectAgent, type Platform, startPlatform } from '../support/servers/platform.ts';
import { makeNetwork, type OwnNetwork, startRunnerIn, whyNoNetwork } from './own-network.ts';
import { newToken, untilRunner } from './runner-fixture.ts';

const why = await whyNoNetwork();

describe.skipIf(why !== undefined)(`a runner in a network of its own${why === undefined ? '' : ` (${why})`}`, () => {
  let network: OwnNetwork;
  let platform: Platform;
  beforeAll(async () => {
    network = makeNetwork();
    // The heart has to be heard often, so that a cable that was pulled is soon known to be.
    platform = await startPlatform(['--host', network.address, '--insecure', '--runner-heartbeat', '1']);
  });
  afterAll(async () => {
    await platform?.[Symbol.asyncDispose]();
    network?.[Symbol.dispose]();
  });

  async function startThere(name: string) {
    const account = await platform.newAccount(name);
    const token = await newToken(account, name);
    const runner = startRunnerIn(network, { url: platform.url, token, args: ['--insecure'] });
    await untilRunner(account, name);
    return { account, runner };
  }

  async function openAgent(account: Account, name: string) {
    const sandbox = await account.newSandbox({ provider: 'remote', runner: name, permissionMode: 'bypass' });
    const workspaceId = await account.newWorkspace();
    const agentId = await account.newAgent({ sandbox, workspaces: [{ name: 'main', workspaceId }] });
    const agent = await connectAgent(account, agentId);
    const ok = async (tool: string, input: Record<string, unknown> = {}) => {
      const { isError, text, structured } = await agent.call(tool, input);
      if (isError) throw new Error(text);
      return { text, structured };
    };
    return { ok, [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose]() };
  }

  test('an agent works there as on the server', async () => {
    const { account, runner: started } = await startThere('works');
    await using runner = started;
    const networkOf = (pid: number | string) => readlinkSync(`/proc/${pid}/ns/net`);
    expect(networkOf(runner.child.pid ?? 0)).not.toBe(networkOf('self'));
    await using agent = await openAgent(account, 'works');
    const { ok } = agent;
    await ok('write', { file_path: 'src/a.txt', content: 'first\n' });
    expect((await ok('read', { file_path: 'src/a.txt' })).text).toContain('first');
    expect((await ok('bash', { command: 'cat src/a.txt; echo second > src/a.txt' })).text).toContain('first');
    expect((await ok('glob', { pattern: '**/*.txt' })).text).toContain('src/a.txt');
    const [namespace = ''] = readdirSync(join(runner.root, 'workspaces'));
    const file = join(runner.root, 'workspaces', namespace, 'src/a.txt');
    expect(readFileSync(file, 'utf8')).toBe('second\n');
    await ok('undo');
    expect(readFileSync(file, 'utf8')).toBe('first\n');
    // Its own network is not that of the runner either, which would lead back to the server.
    const { hostname, port } = new URL(platform.url);
    const knock = await ok('bash', { command: `exec 3<>/dev/tcp/${hostname}/${port} && echo entered; true` });
    expect(knock.text).not.toContain('entered');
  });

  test('a cable that is pulled and mended during a command loses nothing', async () => {
    const { account, runner: started } = await startThere('cable');
    await using _ = started;
    await using agent = await openAgent(account, 'cable');
    await agent.ok('write', { file_path: 'runs', content: '' });
    const command = 'echo once >> runs; until [ -e go ]; do sleep 0.1; done; seq 1 20000 | sha256sum; seq 1 300';
    const running = agent.ok('bash', { command, timeout: 200 });
    await vi.waitFor(async () => expect((await agent.ok('read', { file_path: 'runs' })).text).toContain('once'));
    network.pull();
    await untilRunner(account, 'cable', 'reconnecting');
    network.mend();
    await untilRunner(account, 'cable');
    await agent.ok('write', { file_path: 'go', content: '' });
    const lines = ((await running).structured.output as string).trimEnd().split('\n');
    expect(lines.slice(1)).toEqual(Array.from({ length: 300 }, (_value, index) => `${index + 1}`));
    expect((await agent.ok('bash', { command: 'cat runs; seq 1 20000 | sha256sum' })).text).toContain(
      `once\n${lines[0]}`,
    );
  });

  test('a runner never connects to another machine without TLS unless a flag allows it', async () => {
    const account = await platform.newAccount('careful');
    const token = await newToken(account, 'careful');
    await using runner = startRunnerIn(network, { url: platform.url, token });
    await vi.waitFor(() => expect(runner.child.exitCode).not.toBe(null));
    expect(runner.child.exitCode).not.toBe(0);
    expect(runner.output.stderr()).toContain('pass --insecure here and at the server');
    expect((await account.send('GET', '/v1/runners/careful')).body.state).toBe('offline');
  });

  test('a server accepts no runner of another machine without TLS unless a flag allows it', async () => {
    await using strict = await startPlatform(['--host', network.address]);
    const account = await strict.newAccount('strict');
    const token = await newToken(account, 'strict');
    await using runner = startRunnerIn(network, { url: strict.url, token, args: ['--insecure'] });
    await runner.output.find(/refused: FORBIDDEN: .*connects by TLS/);
    const { state, report } = (await account.send('GET', '/v1/runners/strict')).body;
    expect([state, report]).toEqual(['offline', undefined]);
    expect(runner.child.exitCode).toBe(null);
  });
});
