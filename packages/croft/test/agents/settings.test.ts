import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeDirectory, runCroft } from '../support/harness.ts';
import { type Account, mustBe, type Platform, startPlatform } from '../support/servers/platform.ts';

let platform: Platform;
let account: Account;

beforeAll(async () => {
  platform = await startPlatform();
  account = await platform.newAccount();
});

afterAll(() => platform[Symbol.asyncDispose]());

async function agentWith(config: object): Promise<string> {
  const sandbox = await account.newSandbox({ permissionMode: 'bypass', ...config });
  return account.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId: await account.newWorkspace() }] });
}

const bash = (agent: string, command: string, more: object = {}) => account.call(agent, 'bash', { command, ...more });

describe('a sandbox with settings in its record', () => {
  test('gives commands its variables, redacts those from secrets, and ignores those that decide how programs run', async () => {
    mustBe(200, await account.send('PUT', '/v1/secrets/MINE', { value: 'a-value-to-hide-1234' }));
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference to a secret is spelt so.
    const agent = await agentWith({ envVars: { TOKEN_OF_MINE: '${secret:MINE}', PATH: '/evil', HOME: '/evil' } });
    const command =
      'test "$TOKEN_OF_MINE" = a-value-to-hide-"1234" && echo same; echo "$TOKEN_OF_MINE"; echo "$PATH $HOME"';
    const { output } = mustBe(200, await bash(agent, command));
    expect(output).toMatch(/^same\n\[REDACTED/);
    expect(output).not.toContain('a-value-to-hide-1234');
    expect(output).not.toContain('/evil');
  });

  test('ends commands after its own timeout, whatever a call asks for', async () => {
    const agent = await agentWith({ timeout: 1 });
    expect(mustBe(200, await bash(agent, 'sleep 30', { timeout: 60 }))).toMatchObject({ timedOut: true });
    const program = { cmd: 'sleep', args: ['30'] };
    expect(mustBe(200, await account.call(agent, 'run_command', program))).toMatchObject({ timedOut: true });
  });

  test('limits the output', async () => {
    const agent = await agentWith({ outputLimitBytes: 1000 });
    const shown = mustBe(200, await bash(agent, 'yes | head -c 50000'));
    expect(shown.truncated).toBe(true);
    expect(shown.output.length).toBeLessThan(2000);
  });

  test.each([
    [['bash', 'node'], 'python3 -c 1', 'python'],
    [['bash'], 'cd . && /usr/bin/node -e 1', 'node'],
    [['python'], 'ls', 'bash'],
  ])('with the runtimes %j refuses %s', async (runtimes, command, runtime) => {
    const { status, body } = await bash(await agentWith({ runtimes }), command);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({
      code: 'E_COMMAND_REJECTED',
      message: `this sandbox does not allow ${runtime} commands`,
    });
  });

  test('runs its set-up before the first command, and fails to open if that fails', async () => {
    const agent = await agentWith({ persistent: true, onCreate: ['echo made > made.txt', 'echo more >> made.txt'] });
    expect(mustBe(200, await bash(agent, 'cat made.txt')).output).toBe('made\nmore\n');
    const broken = await bash(await agentWith({ persistent: true, onCreate: ['exit 7'] }), 'touch ran');
    expect(broken.body.error).toMatchObject({
      code: 'E_SANDBOX_UNAVAILABLE',
      message: expect.stringContaining('exit 7'),
    });
  });

  test('has its own memory limit', async () => {
    const count = 'head -c 300000000 /dev/zero | tail | wc -c';
    const outputIn = async (config: object) => mustBe(200, await bash(await agentWith(config), count)).output.trim();
    expect(await outputIn({})).toBe('300000000');
    expect(await outputIn({ memoryLimit: 64 })).not.toContain('300000000');
  });
});

describe('--approval-webhook', () => {
  test('gets a signed message for each requested approval', async () => {
    const heard = Promise.withResolvers<{ body: string; signature: string }>();
    const receiver = createServer(async (request: IncomingMessage, response) => {
      heard.resolve({ body: await text(request), signature: String(request.headers['croft-signature']) });
      response.end();
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    const secret = 'a-secret-for-the-webhook';
    await using reported = await startPlatform(['--approval-webhook', url], { CROFT_WEBHOOK_SECRET: secret });
    const owner = await reported.newAccount();
    const agent = await owner.newAgent({ sandbox: await owner.newSandbox({ permissionMode: 'ask' }) });
    const { approval } = mustBe(202, await owner.call(agent, 'bash', { command: 'echo hi' }));
    const { body, signature } = await heard.promise;
    receiver.close();
    expect(JSON.parse(body)).toMatchObject({
      type: 'approval.requested',
      accountId: owner.accountId,
      approval: { approvalId: approval.approvalId, preview: 'echo hi' },
    });
    const [, seconds, mac] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
    expect(mac).toBe(createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex'));
  });

  test.each([
    [['https://example.com/hook'], 'CROFT_WEBHOOK_SECRET'],
    [['file:///etc/passwd'], '--approval-webhook takes an address'],
  ])('with %j and nothing else is refused at the start', async (url, words) => {
    using directory = makeDirectory({ 'workspace/a': '' });
    const args = ['serve', '--workspace', directory.at('workspace'), '--data', directory.at('data'), '--port', '0'];
    const { exitCode, stderr } = await runCroft([...args, '--approval-webhook', ...url]);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain(words);
  });
});
