import { type Client, createClient, type ToolBytes, type ToolOutput } from '@croft/sdk';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Account, mustBe, type Platform, startPlatform } from '../support/servers/platform.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** What a call of an agent prints, followed while it runs. */
let platform: Platform;
let account: Account;
let client: Client;
let agentId: string;
let careful: string;

beforeAll(async () => {
  platform = await startPlatform();
  account = await platform.newAccount();
  client = createClient({ baseUrl: account.url, token: account.secret });
  const workspaces = [{ name: 'w', workspaceId: await account.newWorkspace() }];
  await account.send('PUT', '/v1/secrets/DEPLOY', { value: 'first line 8sKd02LxPq\nsecond line Qm71vZt93nB' });
  agentId = await account.newAgent({ sandbox: await account.newSandbox({ permissionMode: 'bypass' }), workspaces });
  careful = await account.newAgent({ sandbox: await account.newSandbox({ permissionMode: 'ask' }), workspaces });
});
afterAll(() => platform[Symbol.asyncDispose]());

async function follow(tool: string, input: Record<string, unknown>, onOutput: (output: ToolOutput) => void = () => {}) {
  const pieces: ToolOutput[] = [];
  const { result } = await client.agent(agentId).call(tool, input, {
    onOutput(output) {
      pieces.push(output);
      onOutput(output);
    },
  });
  const textOf = (stream: string) => pieces.flatMap((piece) => (piece.stream === stream ? [piece.text] : [])).join('');
  return { result, pieces, stdout: textOf('stdout'), stderr: textOf('stderr') };
}

/** Each command waits for a file that is made when its first output has arrived: it cannot have come at the end. */
const untilSeen = 'until [ -e seen ]; do read -rt 0.05 <> <(:); done; rm seen';

test.each([
  ['bash', { command: `echo one; ${untilSeen}; echo two`, timeout: 50 }],
  ['run_command', { cmd: 'bash', args: ['-c', `echo one; ${untilSeen}; echo two`], timeout_ms: 50_000 }],
])('the output of %s arrives while the command runs, and then the result', async (tool, input) => {
  const { result, stdout } = await follow(tool, input, ({ text }) => {
    if (text.includes('one')) void account.call(agentId, 'write', { file_path: 'seen', content: '' });
  });
  expect(stdout).toBe('one\ntwo\n');
  expect(result).toMatchObject({ exitCode: 0, [tool === 'bash' ? 'output' : 'stdout']: 'one\ntwo\n' });
});

test('both outputs of a program are told apart', async () => {
  const { result, stdout, stderr } = await follow('run_command', {
    cmd: 'bash',
    args: ['-c', 'echo out; echo err >&2; exit 3'],
  });
  expect([stdout, stderr, result?.exitCode]).toEqual(['out\n', 'err\n', 3]);
});

test('a secret that is printed in parts is never shown, nor are control sequences', async () => {
  const byCharacter = 'node -e "for (const c of process.env.DEPLOY) require(\'fs\').writeSync(1, c)"';
  const escapes = 'printf "\\n%s\\n" "$DEPLOY"; printf "\\033[31mred\\033[0m \\033"; printf "[1mbold\\n"';
  const command = `${byCharacter}; ${escapes}`;
  const { result, stdout } = await follow('bash', { command, secrets: ['DEPLOY'] });
  expect(stdout).toBe(result?.output);
  expect(stdout).not.toMatch(/8sKd02LxPq|Qm71vZt93nB/);
  expect(stdout).toContain('[REDACTED:deploy]');
  expect(stdout).toContain('red bold\n');
});

test('ten megabytes arrive whole, as fast as the client takes them', async () => {
  const { stdout, result } = await follow('run_command', {
    cmd: 'bash',
    args: ['-c', 'seq 1 1400000 | head -c 10000000'],
  });
  expect(stdout.length).toBe(10_000_000);
  expect(stdout.endsWith(String(result?.stdout).slice(-40_000))).toBe(true);
  expect(stdout.slice(0, 2_000_000)).toBe(
    Array.from({ length: 400_000 }, (_, index) => `${index + 1}\n`)
      .join('')
      .slice(0, 2_000_000),
  );
});

test('a call that prints nothing is answered as if nobody followed it, and so is one that fails or waits', async () => {
  const headers = { accept: 'text/event-stream' };
  const silent = await account.call(agentId, 'bash', { command: 'true' }, headers);
  expect([silent.status, silent.body.exitCode]).toEqual([200, 0]);
  expect((await account.call(agentId, 'bash', { command: 7 }, headers)).status).toBe(400);
  expect((await account.call(agentId, 'nothing', {}, headers)).status).toBe(404);
  const { approval } = mustBe(202, await account.call(careful, 'bash', { command: 'echo yes' }, headers));
  await account.approve(approval.approvalId);
  const pieces: string[] = [];
  const { result } = await client.agent(careful).call(
    'bash',
    { command: 'echo yes' },
    {
      approvalId: approval.approvalId,
      onOutput: ({ text }) => void pieces.push(text),
    },
  );
  expect([pieces.join(''), result?.exitCode]).toEqual(['yes\n', 0]);
});

test('a client that goes away ends its command', async () => {
  const gone = new AbortController();
  const call = client
    .agent(agentId)
    .call('bash', { command: 'echo go; sleep 4321' }, { signal: gone.signal, onOutput: () => gone.abort() });
  await expect(call).rejects.toThrow();
  const left = async () => {
    const command = 'cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -c "sleep 43[2]1"';
    return mustBe(200, await account.call(agentId, 'bash', { command })).output.trim();
  };
  await vi.waitFor(async () => expect(await left()).toBe('0'), { timeout: 20_000 });
});

test('a key that is revoked meanwhile ends the stream', async () => {
  const { secret, key } = mustBe(201, await account.send('POST', '/v1/keys', { name: 'short', scopes: ['call'] }));
  const short = createClient({ baseUrl: account.url, token: secret });
  const call = short.agent(agentId).call(
    'bash',
    { command: 'echo go; sleep 50' },
    {
      onOutput: async () => void (await account.send('DELETE', `/v1/keys/${key.keyId}`)),
    },
  );
  await expect(call).rejects.toThrow();
});

test('output comes as bytes for a client that asks for them, and a form that does not exist is refused', async () => {
  const pieces: ToolBytes[] = [];
  const print = 'printf "\\377\\033[31m$FORCE_COLOR\\033[m\\r\\n"; echo "$DEPLOY" >&2';
  const input = { cmd: 'bash', args: ['-c', print], secrets: ['DEPLOY'] };
  const onBytes = (piece: ToolBytes) => void pieces.push(piece);
  const { result } = await client.agent(agentId).call('run_command', input, { onBytes, color: true });
  const of = (stream: string) => pieces.filter((piece) => piece.stream === stream);
  expect(Buffer.concat(of('stdout').map(({ bytes }) => bytes)).toString('latin1')).toBe('\xff\x1b[31m1\x1b[m\r\n');
  expect(Buffer.concat(of('stderr').map(({ bytes }) => bytes)).toString()).toBe('[REDACTED:deploy]\n');
  expect(of('stderr').flatMap(({ redacted }) => redacted)).toEqual(['deploy']);
  expect(result).toMatchObject({ stdout: '\ufffd1\n', stderr: '[REDACTED:deploy]\n' });
  const headers = { accept: 'text/event-stream', 'croft-output': 'hex' };
  const refused = await account.call(agentId, 'run_command', input, headers);
  expect(refused).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining('not hex') } } });
});
