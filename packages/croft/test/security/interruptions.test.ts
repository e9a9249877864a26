import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, connectAgent, mustBe, type Platform, startPlatform } from '../support/servers/platform.ts';

let platform: Platform;
let account: Account;

beforeAll(async () => {
  platform = await startPlatform();
  account = await platform.newAccount();
  for (const name of ['DEPLOY', 'OTHER'])
    mustBe(200, await account.send('PUT', `/v1/secrets/${name}`, { value: `first-value-of-${name}` }));
});

afterAll(() => platform[Symbol.asyncDispose]());

const restricted = { mode: 'restricted', allowDomains: ['a.example', 'b.example'] };

async function makeAgent(config: object = {}) {
  const sandbox = await account.newSandbox({
    ...{ permissionMode: 'bypass', network: restricted, memoryLimit: 512, timeout: 60, envVars: { STAGE: 'one' } },
    ...config,
  });
  const [one, two] = [await account.newWorkspace(), await account.newWorkspace()];
  const both = [
    { name: 'one', workspaceId: one },
    { name: 'two', workspaceId: two },
  ];
  const agent = await account.newAgent({ sandbox, workspaces: both });
  return { agent, sandbox, one, both };
}

type Made = Awaited<ReturnType<typeof makeAgent>>;

/** A background command, and a call that waits for a signal file. */
async function startWork({ agent }: Made, secrets: string[] = []) {
  const background = { command: 'echo up; sleep 600', run_in_background: true, secrets };
  const { shell_id } = mustBe(200, await account.call(agent, 'bash', background));
  const waits = 'touch began; until test -e go-on; do sleep 0.05; done; echo done';
  const waiting = account.call(agent, 'bash', { command: waits });
  await expect.poll(async () => (await account.call(agent, 'read', { file_path: 'began' })).status).toBe(200);
  return {
    waiting,
    readOutput: () => account.call(agent, 'bash_output', { shell_id }),
    goOn: () => account.call(agent, 'write', { file_path: 'go-on', content: '' }),
  };
}

const patch = async (path: string, body: object) => mustBe(200, await account.send('PATCH', `/v1/${path}`, body));
const putSecret = async (name: string, value: string) =>
  mustBe(200, await account.send('PUT', `/v1/secrets/${name}`, { value }));

const harmless: [string, (made: Made) => Promise<unknown>][] = [
  ['a description of the agent', ({ agent }) => patch(`agents/${agent}`, { description: 'another' })],
  ['a name of the sandbox', ({ sandbox }) => patch(`sandboxes/${sandbox}`, { name: `renamed-${sandbox}` })],
  ['a description of the workspace', ({ one }) => patch(`workspaces/${one}`, { description: 'another' })],
  ['a setting that only its owner knows', ({ agent }) => patch(`agents/${agent}`, { config: { mine: 1 } })],
  ['a secret that it was not given', () => putSecret('OTHER', `value-${Math.random()}`)],
  ['a new secret', () => putSecret(`NEW_${Date.now()}`, 'some-value')],
  [
    'more of the network',
    ({ sandbox }) => patch(`sandboxes/${sandbox}`, { config: { network: { mode: 'allow-all', allowDomains: null } } }),
  ],
  ['more memory', ({ sandbox }) => patch(`sandboxes/${sandbox}`, { config: { memoryLimit: 1024 } })],
  ['a longer timeout', ({ sandbox }) => patch(`sandboxes/${sandbox}`, { config: { timeout: 90 } })],
  ['a variable', ({ sandbox }) => patch(`sandboxes/${sandbox}`, { config: { envVars: { STAGE: 'two' } } })],
];

describe('a change that removes no access', () => {
  test.each(harmless)('%s interrupts nothing', async (_, change) => {
    const made = await makeAgent();
    await using client = await connectAgent(account, made.agent, { era: '2025' });
    mustBe200(await client.call('list', {}));
    const work = await startWork(made, ['DEPLOY']);
    await change(made);
    // The next calls are made with what the records say now.
    expect(mustBe(200, await work.readOutput())).toMatchObject({ status: 'running' });
    mustBe(200, await work.goOn());
    expect(mustBe(200, await work.waiting)).toMatchObject({ output: 'done\n', exitCode: 0 });
    expect(mustBe(200, await work.readOutput())).toMatchObject({ status: 'running' });
    mustBe200(await client.call('list', {}));
  });

  test('holds from the next call on, and what runs goes on', async () => {
    const made = await makeAgent();
    const work = await startWork(made);
    await patch(`sandboxes/${made.sandbox}`, { config: { envVars: { STAGE: 'two' } } });
    const three = await account.newWorkspace();
    const workspaces = [...made.both, { name: 'three', workspaceId: three }];
    await patch(`agents/${made.agent}`, { config: { workspaces } });
    expect(mustBe(200, await account.call(made.agent, 'bash', { command: 'echo $STAGE' })).output).toBe('two\n');
    const there = { command: 'pwd', workspace: 'three' };
    expect(mustBe(200, await account.call(made.agent, 'bash', there)).output).toBe('/workspaces/three\n');
    mustBe(200, await work.goOn());
    mustBe(200, await work.waiting);
    expect(mustBe(200, await work.readOutput())).toMatchObject({ status: 'running' });
  });

  test('to the value of a secret redacts it in the output of running commands', async () => {
    const { agent } = await makeAgent();
    await putSecret('CHANGING', 'the-old-value-1');
    mustBe(200, await account.call(agent, 'write', { file_path: 'kept', content: 'the-old-value-1 the-new-value-2' }));
    await putSecret('CHANGING', 'the-new-value-2');
    const { output } = mustBe(200, await account.call(agent, 'bash', { command: 'cat kept' }));
    expect(output).toBe('[REDACTED:changing] [REDACTED:changing]');
  });
});

const narrowing: [string, string, (made: Made) => Promise<unknown>][] = [
  [
    'a workspace fewer',
    'workspace "two" was taken from the agent',
    ({ agent, both }) => patch(`agents/${agent}`, { config: { workspaces: both.slice(0, 1) } }),
  ],
  [
    'a stricter mode',
    'its permission mode is edit now',
    ({ sandbox }) => patch(`sandboxes/${sandbox}`, { config: { permissionMode: 'edit' } }),
  ],
  [
    'a domain fewer',
    'its network was narrowed',
    ({ sandbox }) => patch(`sandboxes/${sandbox}`, { config: { network: { allowDomains: ['a.example'] } } }),
  ],
  [
    'less memory',
    'its size or memory was lowered',
    ({ sandbox }) => patch(`sandboxes/${sandbox}`, { config: { memoryLimit: 256 } }),
  ],
  [
    'a runtime fewer',
    'node is not allowed any more',
    ({ sandbox }) => patch(`sandboxes/${sandbox}`, { config: { runtimes: ['bash', 'python'] } }),
  ],
  [
    'a smaller quota',
    'its quota was lowered',
    ({ one }) => patch(`workspaces/${one}`, { config: { quota: { bytes: 1_000_000 } } }),
  ],
  ['another value of a secret that it was given', 'the secret DEPLOY', () => putSecret('DEPLOY', `v-${Math.random()}`)],
];

describe('a change that removes access', () => {
  test.each(narrowing)('%s ends running commands, with a reason', async (_, words, change) => {
    const made = await makeAgent();
    const work = await startWork(made, ['DEPLOY']);
    await change(made);
    const { status, body } = await work.waiting;
    expect({ status, body }).toMatchObject({
      status: 409,
      body: { error: { code: 'E_INTERRUPTED', message: expect.stringContaining(words) } },
    });
    const looked = await work.readOutput();
    expect(looked.body.error).toMatchObject({ code: 'E_NOT_RUNNING', message: expect.stringContaining(words) });
  });

  test('leaves other agents of the account alone', async () => {
    const [made, other] = [await makeAgent(), await makeAgent()];
    const work = await startWork(other);
    await patch(`sandboxes/${made.sandbox}`, { config: { permissionMode: 'ask' } });
    mustBe(200, await work.goOn());
    mustBe(200, await work.waiting);
    expect(mustBe(200, await work.readOutput())).toMatchObject({ status: 'running' });
  });

  test('tells a client of 2025 why its session ended', async () => {
    const made = await makeAgent();
    await using client = await connectAgent(account, made.agent, { era: '2025' });
    mustBe200(await client.call('list', {}));
    await patch(`agents/${made.agent}`, { config: { workspaces: made.both.slice(0, 1) } });
    await expect(client.call('list', {})).rejects.toThrow(/it was ended because workspace .*two.* was taken/);
  });
});

function mustBe200({ isError, text }: { isError: boolean; text: string }): void {
  expect({ isError, text }).toMatchObject({ isError: false });
}
