import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eras } from '../support/harness.ts';
import {
  type Account,
  connectAgent,
  mustBe,
  type OnAsked,
  type Platform,
  startPlatform,
} from '../support/servers/platform.ts';

let platform: Platform;
let account: Account;
let workspaceId: string;
beforeAll(async () => {
  platform = await startPlatform(['--approval-wait', '1']);
  account = await platform.newAccount();
  workspaceId = await account.newWorkspace();
});
afterAll(() => platform[Symbol.asyncDispose]());

const newAgent = async (permissionMode = 'bypass', config: object = {}) =>
  account.newAgent({
    ...{ sandbox: await account.newSandbox({ permissionMode }), workspaces: [{ name: 'w', workspaceId }] },
    ...config,
  });

const touch = (file: string) => ({ cmd: 'touch', args: [file] });
const through = (name: string, given: object) => ({ name, arguments: given });
const filesOf = async (agent: string) => (await account.call(agent, 'glob', { pattern: '*' })).body.paths as string[];

describe.each(eras)('a call through `tools`, over MCP of %s', (era) => {
  test('asks a person about the real call, and runs nothing without a yes', async () => {
    const agent = await newAgent('ask');
    const asked: string[] = [];
    let decision = 'deny';
    const onAsked: OnAsked = (message) => {
      asked.push(message);
      return { action: 'accept', content: { decision } };
    };
    await using client = await connectAgent(account, agent, { era, onAsked, session: `${era}-asks` });
    const [refused, agreed] = [`refused-${era}`, `agreed-${era}`];
    const denied = await client.call('tools', through('run_command', touch(refused)));
    expect(denied.structured.error.code).toBe('E_APPROVAL_DENIED');
    decision = 'approve';
    expect(await client.call('tools', through('run_command', touch(agreed)))).toMatchObject({ isError: false });
    const made = await filesOf(agent);
    expect([made.includes(refused), made.includes(agreed)]).toEqual([false, true]);
    expect(asked).toHaveLength(2);
    expect(asked[0]).toMatch(new RegExp(`run_command[^]*touch[^]*${refused}`));
    expect(asked[1]).toMatch(new RegExp(`run_command[^]*touch[^]*${agreed}`));
    expect(await client.call('tools')).toMatchObject({ isError: false });
    expect(await client.call('tools', { name: 'run_command' })).toMatchObject({ isError: false });
    expect(asked).toHaveLength(2);
  });

  test('needs an approval of exactly that call, and uses it up, directly or through `tools`', async () => {
    const agent = await newAgent('edit');
    await using client = await connectAgent(account, agent, { era, session: `${era}-claims` });
    const file = `claimed-${era}`;
    const waiting = await client.call('tools', through('run_command', touch(file)));
    expect(waiting.structured.error.code).toBe('E_APPROVAL_REQUIRED');
    const { approvalId } = waiting.structured.error.details.approval;
    const { approval } = mustBe(200, await account.send('GET', `/v1/approvals/${approvalId}`));
    expect(approval).toMatchObject({ tool: 'run_command', input: touch(file) });
    mustBe(200, await account.approve(approvalId));
    const other = await client.call('tools', through('run_command', touch('other')));
    expect(other.structured.error.code).toBe('E_APPROVAL_REQUIRED');
    expect(await client.call('run_command', touch(file))).toMatchObject({ isError: false });
    const again = await client.call('tools', through('run_command', touch(file)));
    expect(again.structured.error.code).toBe('E_APPROVAL_REQUIRED');
    expect(await filesOf(agent)).not.toContain('other');
  });
});

test('the audit trail names the tool that was called, and REST calls through `tools` too', async () => {
  const other = await platform.newAccount('bob');
  const workspaces = [{ name: 'w', workspaceId: await other.newWorkspace() }];
  const agent = await other.newAgent({ sandbox: await other.newSandbox({ permissionMode: 'bypass' }), workspaces });
  mustBe(200, await other.call(agent, 'tools', through('run_command', touch('audited'))));
  const { audit } = mustBe(200, await other.send('GET', '/v1/audit'));
  const named = audit.map(({ details }: { details: string }) => JSON.parse(details).tool).filter(Boolean);
  expect(named.length).toBeGreaterThan(0);
  expect([...new Set(named)]).toEqual(['run_command']);
});

test('a read-only workspace stays read-only', async () => {
  const other = await account.newWorkspace();
  const agent = await newAgent('bypass', {
    workspaces: [
      { name: 'w', workspaceId },
      { name: 'fixed', workspaceId: other, sandbox: null },
    ],
  });
  const calls = [
    ['run_command', touch('x')],
    ['snapshot_create', { name: 'x' }],
    ['workspace_fork', { name: 'x' }],
  ] as const;
  for (const [name, given] of calls) {
    const answer = await account.call(agent, 'tools', through(name, { ...given, workspace: 'fixed' }));
    expect(answer.body.error.code, name).toBe('E_READ_ONLY');
  }
});

describe('config.tools of an agent', () => {
  const names = async (agent: string) => (await account.tools(agent)).map(({ name }) => name).toSorted();

  test('names the tools of the agent', async () => {
    const agent = await newAgent('bypass', { tools: ['search', 'run_command'] });
    expect(await names(agent)).toEqual(['cd', 'glob', 'grep', 'next_page', 'run_command', 'workspaces']);
    await using client = await connectAgent(account, agent);
    expect((await client.client.listTools()).tools.map(({ name }) => name).toSorted()).toEqual(await names(agent));
    for (const name of ['bash', 'Read', 'write', 'tools'])
      expect((await client.call(name, through('bash', { command: 'true' }))).structured.error.code).toBe(
        'E_UNKNOWN_TOOL',
      );
  });

  test('if omitted, lists the everyday tools to MCP clients, and every tool over REST', async () => {
    const agent = await newAgent();
    await using client = await connectAgent(account, agent);
    const listed = (await client.client.listTools()).tools.map(({ name }) => name);
    const all = await account.tools(agent);
    expect(listed).not.toContain('snapshot_create');
    expect(all.filter(({ isListed }) => isListed).map(({ name }) => name)).toEqual(listed);
    expect(all.map(({ name }) => name)).toContain('snapshot_create');
  });

  test('that loses a tool ends what runs by it, and the next call does not have it', async () => {
    const agent = await newAgent();
    await using client = await connectAgent(account, agent);
    const running = client.call('bash', { command: 'touch started; sleep 100' });
    await expect.poll(() => filesOf(agent)).toContain('started');
    mustBe(200, await account.send('PATCH', `/v1/agents/${agent}`, { config: { tools: ['files'] } }));
    expect((await running).structured.error).toMatchObject({
      code: 'E_INTERRUPTED',
      message: expect.stringContaining('tools were taken from the agent'),
    });
    await using next = await connectAgent(account, agent);
    expect((await next.call('bash', { command: 'true' })).structured.error.code).toBe('E_UNKNOWN_TOOL');
  });

  test.each([
    [['reed'], 'there is no tool or toolset "reed"; the nearest is read'],
    [[], 'config.tools must have at least one entry'],
    ['files', 'config.tools must be an array'],
    [[1], 'config.tools[0] must be a non-empty string'],
  ])('%j is refused', async (tools, reason) => {
    const { status, body } = await account.send('POST', '/v1/agents', { name: 'x', config: { tools } });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(reason)]);
  });
});
