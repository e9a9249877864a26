import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eras } from '../support/harness.ts';
import {
  type Account,
  connectAgent,
  mustBe,
  type OnAsked,
  openAccount,
  type Platform,
  startPlatform,
} from '../support/servers/platform.ts';

let platform: Platform;
let account: Account;

beforeAll(async () => {
  platform = await startPlatform(['--approval-wait', '1']);
  account = await platform.newAccount();
});

afterAll(() => platform[Symbol.asyncDispose]());

/** Two agents on one workspace: one that asks for everything, and one that asks for commands alone. */
async function newAgents() {
  const workspaceId = await account.newWorkspace();
  const attach = async (permissionMode: string) =>
    account.newAgent({
      sandbox: await account.newSandbox({ permissionMode }),
      workspaces: [{ name: 'w', workspaceId }],
    });
  return { careful: await attach('ask'), handy: await attach('edit') };
}

const yes: OnAsked = () => ({ action: 'accept', content: { decision: 'approve' } });
const no: OnAsked = () => ({ action: 'accept', content: { decision: 'deny', reason: 'not today' } });

describe.each(eras)('over MCP of %s', (era) => {
  test('two agents with different permission modes on one workspace, with a person to ask', async () => {
    const { careful, handy } = await newAgents();
    const asked: string[] = [];
    const note: OnAsked = (message) => {
      asked.push(message);
      return yes(message);
    };
    await using one = await connectAgent(account, careful, { era, onAsked: note, session: `${era}-one` });
    await using two = await connectAgent(account, handy, { era, onAsked: note, session: `${era}-two` });

    expect(await two.call('write', { file_path: 'a.txt', content: 'hello\n' })).toMatchObject({ isError: false });
    expect(asked).toEqual([]);
    expect(await one.call('read', { file_path: 'a.txt' })).toMatchObject({ isError: false });
    const edited = await one.call('edit', { file_path: 'a.txt', old_string: 'hello', new_string: 'goodbye' });
    expect(edited).toMatchObject({ isError: false });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain('-hello');
    expect(asked[0]).toContain('+goodbye');
    expect((await two.call('bash', { command: 'cat a.txt' })).structured).toMatchObject({ output: 'goodbye\n' });
    expect(asked).toHaveLength(2);
    expect(asked[1]).toContain('cat a.txt');
  });

  test('a refusal by the person reaches the agent with its reason, and nothing is run', async () => {
    const { careful } = await newAgents();
    await using agent = await connectAgent(account, careful, { era, onAsked: no, session: `${era}-no` });
    const refused = await agent.call('write', { file_path: 'a.txt', content: '' });
    expect(refused).toMatchObject({ isError: true, structured: { error: { code: 'E_APPROVAL_DENIED' } } });
    expect(refused.text).toContain('not today');
    expect((await agent.call('glob', { pattern: '*' })).structured.paths).toEqual([]);
  });

  test('without a person to ask, the error says what is needed, and the repeated call uses the approval once', async () => {
    const { careful } = await newAgents();
    await using agent = await connectAgent(account, careful, { era, session: `${era}-alone` });
    const call = { file_path: 'a.txt', content: 'one\n' };
    const waiting = await agent.call('write', call);
    expect(waiting).toMatchObject({ isError: true, structured: { error: { code: 'E_APPROVAL_REQUIRED' } } });
    const { approvalId } = waiting.structured.error.details.approval;
    mustBe(200, await account.approve(approvalId));
    const changed = await agent.call('write', { ...call, content: 'two\n' });
    expect(changed.structured.error.code).toBe('E_APPROVAL_REQUIRED');
    expect(await agent.call('write', call)).toMatchObject({ isError: false });
    expect((await agent.call('bash', { command: 'true' })).structured.error.code).toBe('E_APPROVAL_REQUIRED');
    const again = await agent.call('write', { ...call, file_path: './a.txt' });
    expect(again.structured.error.code).toBe('E_APPROVAL_REQUIRED');
  });

  test('an approval that arrives while the call waits lets it run', async () => {
    const { careful } = await newAgents();
    await using agent = await connectAgent(account, careful, { era, session: `${era}-waits` });
    const running = agent.call('write', { file_path: 'late.txt', content: '' });
    await expect
      .poll(async () => {
        const { approvals } = (await account.send('GET', `/v1/approvals?state=pending&agentId=${careful}`)).body;
        for (const { approvalId } of approvals) await account.approve(approvalId);
        return approvals.length;
      })
      .toBeGreaterThan(0);
    expect(await running).toMatchObject({ isError: false });
  });
});

describe('an approval', () => {
  test('holds for one call of this session of this agent, once', async () => {
    const { careful, handy } = await newAgents();
    const input = { command: 'echo hi' };
    const { approval } = mustBe(202, await account.call(careful, 'bash', input));
    expect(approval).toMatchObject({ state: 'pending', tool: 'bash', preview: 'echo hi' });
    const claim = { 'croft-approval': approval.approvalId };
    expect((await account.call(careful, 'bash', input, claim)).status).toBe(202);
    mustBe(200, await account.approve(approval.approvalId));

    const mismatch = async (agent: string, given: object, headers: Record<string, string>) =>
      (await account.call(agent, 'bash', given, { ...claim, ...headers })).body.error?.code;
    expect(await mismatch(careful, { command: 'echo ho' }, {})).toBe('E_APPROVAL_MISMATCH');
    expect(await mismatch(careful, { ...input, timeout: 7 }, {})).toBe('E_APPROVAL_MISMATCH');
    expect(await mismatch(careful, input, { 'croft-session': 'other' })).toBe('E_APPROVAL_MISMATCH');
    expect(await mismatch(handy, input, {})).toBe('E_APPROVAL_MISMATCH');
    const stranger = await platform.newAccount('eve');
    const foreign = await stranger.newAgent({ sandbox: await stranger.newSandbox({ permissionMode: 'ask' }) });
    expect((await stranger.call(foreign, 'bash', input, claim)).body.error.code).toBe('E_APPROVAL_MISMATCH');
    expect((await stranger.approve(approval.approvalId)).status).toBe(404);

    const runs = await Promise.all(Array.from({ length: 8 }, () => account.call(careful, 'bash', input, claim)));
    expect(runs.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(mustBe(200, runs.find(({ status }) => status === 200) as never).output).toBe('hi\n');
    expect(await mismatch(careful, input, {})).toBe('E_APPROVAL_MISMATCH');
  });

  test('for the session holds for this exact call again, and for no other call', async () => {
    const { careful } = await newAgents();
    const { approval } = mustBe(202, await account.call(careful, 'bash', { command: 'echo again' }));
    mustBe(200, await account.approve(approval.approvalId, { scope: 'session' }));
    for (let round = 0; round < 3; round++) mustBe(200, await account.call(careful, 'bash', { command: 'echo again' }));
    expect((await account.call(careful, 'bash', { command: 'echo again ' })).status).toBe(202);
    const other = await account.call(careful, 'bash', { command: 'echo again' }, { 'croft-session': 'other' });
    expect(other.status).toBe(202);
  });

  test('that was denied is an error, and cannot be decided twice', async () => {
    const { careful } = await newAgents();
    const { approval } = mustBe(202, await account.call(careful, 'bash', { command: 'rm -rf .' }));
    mustBe(200, await account.deny(approval.approvalId, 'far too much'));
    const denied = await account.call(
      careful,
      'bash',
      { command: 'rm -rf .' },
      { 'croft-approval': approval.approvalId },
    );
    expect(denied).toMatchObject({ status: 403, body: { error: { code: 'E_APPROVAL_DENIED' } } });
    expect(denied.body.error.message).toContain('far too much');
    expect((await account.approve(approval.approvalId)).body.error.code).toBe('E_APPROVAL_SETTLED');
  });

  test('cannot be decided by a key with only the scope call', async () => {
    const { careful } = await newAgents();
    const { approval } = mustBe(202, await account.call(careful, 'bash', { command: 'true' }));
    const made = mustBe(201, await account.send('POST', '/v1/keys', { name: 'model', scopes: ['call'] }));
    const model = openAccount(account.url, made.secret, account.accountId);
    expect((await model.approve(approval.approvalId)).status).toBe(403);
    expect((await model.send('PATCH', `/v1/sandboxes/${'sb_'.padEnd(27, '0')}`, {})).status).toBe(403);
  });

  test('shows no secret that the call would hide', async () => {
    const { careful } = await newAgents();
    mustBe(200, await account.send('PUT', '/v1/secrets/deploy', { value: 'hunter2-hunter2-hunter2' }));
    const { approval } = mustBe(202, await account.call(careful, 'bash', { command: 'echo hunter2-hunter2-hunter2' }));
    expect(approval.preview).not.toContain('hunter2');
  });
});

test('a write runs no linter of the workspace if commands need an approval', async () => {
  const workspaceId = await account.newWorkspace();
  const attach = async (permissionMode: string) =>
    account.newAgent({
      sandbox: await account.newSandbox({ permissionMode }),
      workspaces: [{ name: 'w', workspaceId }],
    });
  const [handy, free] = [await attach('edit'), await attach('bypass')];
  const setUp =
    'mkdir -p node_modules/.bin && printf "#!/bin/sh\\ntouch evil\\n" > node_modules/.bin/eslint && ' +
    'chmod +x node_modules/.bin/eslint && echo > eslint.config.js && echo "{}" > package.json';
  expect(mustBe(200, await account.call(free, 'bash', { command: setUp })).exitCode).toBe(0);
  const evilAfter = async (agent: string, file_path: string) => {
    mustBe(200, await account.call(agent, 'write', { file_path, content: 'var a\n' }));
    return mustBe(200, await account.call(agent, 'glob', { pattern: 'evil' })).paths;
  };
  expect(await evilAfter(handy, 'a.js')).toEqual([]);
  // The linter that was not run is one that is run where it may be.
  expect(await evilAfter(free, 'b.js')).toEqual(['evil']);
});

test('a control file allowed by the sandbox record needs no approval, and every other needs one in every mode', async () => {
  const workspaceId = await account.newWorkspace();
  const config = { permissionMode: 'bypass', allowControl: ['.vscode'] };
  const sandbox = await account.newSandbox(config);
  const agent = await account.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
  const write = (path: string) => account.call(agent, 'write', { file_path: path, content: 'x\n' });
  expect((await write('.vscode/tasks.json')).status).toBe(200);
  const waiting = await write('.mcp.json');
  const { approvalId, preview } = mustBe(202, waiting).approval;
  expect(preview).toContain('CONTROL FILE .mcp.json');
  mustBe(200, await account.approve(approvalId));
  expect((await write('.mcp.json')).status).toBe(200);
  expect((await write('.mcp.json')).status).toBe(202);
  expect((await write('x/.git/config')).body.error.code).toBe('E_CONTROL_FILE');
  const unknown = await account.send('POST', '/v1/sandboxes', { name: 'bad', config: { allowControl: ['.git'] } });
  expect(unknown.status).toBe(400);
});
