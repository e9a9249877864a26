import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eras, readWhole } from '../support/harness.ts';
import {
  type Account,
  connectAgent,
  mustBe,
  openAccount,
  type Platform,
  startPlatform,
} from '../support/servers/platform.ts';

/** Clients cut answers at 10 to 50 kB. */
const maxBytes = 40_000;
const rows = 15_000;
const command = `seq 1 ${rows}`;
const printed = `${Array.from({ length: rows }, (_, index) => index + 1).join('\n')}\n`;
const files = 1500;

let platform: Platform;
let account: Account;
let stateless: string;
let readOnly: string;
let fencedWorkspace: string;

beforeAll(async () => {
  platform = await startPlatform();
  account = await platform.newAccount();
  const sandbox = await account.newSandbox({ permissionMode: 'bypass' });
  stateless = await account.newAgent({ sandbox });
  fencedWorkspace = await account.newWorkspace();
  const attached = { name: 'w', workspaceId: fencedWorkspace };
  const writer = await account.newAgent({ sandbox, workspaces: [attached] });
  const fill = `for i in $(seq 1 ${files}); do : > a-file-with-quite-a-long-name-$i; done`;
  mustBe(200, await account.call(writer, 'bash', { command: fill }));
  readOnly = await account.newAgent({ sandbox, workspaces: [{ ...attached, sandbox: null }] });
});
afterAll(() => platform[Symbol.asyncDispose]());

const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

describe.each(eras)('a client of %s', (era) => {
  test('of an agent without a workspace reads the rest of a command, and nothing runs again', async () => {
    await using agent = await connectAgent(account, stateless, { era });
    expect((await agent.client.listTools()).tools.map(({ name }) => name)).toEqual(['bash', 'next_page']);
    const answer = await agent.call('bash', { command: `${command}; date +%N` });
    expect(sizeOf(answer.text)).toBeLessThan(maxBytes);
    expect(sizeOf(answer.structured)).toBeLessThan(maxBytes);
    expect(answer.text).toContain('call next_page with cursor "');
    const whole = await readWhole(agent.call, answer);
    expect(whole.startsWith(printed)).toBe(true);
    expect(await readWhole(agent.call, answer)).toBe(whole);
  });

  test('of an agent that may only read can read every file', async () => {
    await using agent = await connectAgent(account, readOnly, { era });
    expect((await agent.client.listTools()).tools.map(({ name }) => name).sort()).toEqual([
      'glob',
      'next_page',
      'read',
    ]);
    const answer = await agent.call('glob', { pattern: '**/*', limit: 10_000 });
    expect(sizeOf(answer.text)).toBeLessThan(maxBytes);
    expect((await readWhole(agent.call, answer)).match(/a-file-with-quite-a-long-name-\d+$/gm)).toHaveLength(files);
  });
});

describe.each(['an agent without a workspace', 'an agent that may only read'])('the cursor of %s', (kind) => {
  const [tool, input] =
    kind === 'an agent without a workspace'
      ? (['bash', { command }] as const)
      : (['glob', { pattern: '**/*', limit: 10_000 }] as const);
  const agentId = () => (tool === 'bash' ? stateless : readOnly);
  const unknown = { code: 'E_INVALID_INPUT', message: expect.stringContaining('no answer is kept') };

  test('is refused in another session, key, agent or account, and works in its own', async () => {
    await using own = await connectAgent(account, agentId());
    const { nextCursor: cursor } = (await own.call(tool, input)).structured;
    expect(cursor).toMatch(/^[0-9a-f]{8}\.0-\d+$/);

    const secret = mustBe(
      201,
      await account.send('POST', '/v1/keys', { name: `second-${tool}`, scopes: ['*'] }),
    ).secret;
    const sameAccount = openAccount(account.url, secret, account.accountId);
    const other = await platform.newAccount(`other-${tool}`);
    const sandbox = await other.newSandbox({ permissionMode: 'bypass' });
    const others = [
      () => connectAgent(account, agentId(), { session: 'another' }),
      () => connectAgent(sameAccount, agentId()),
      () => connectAgent(account, tool === 'bash' ? readOnly : stateless),
      async () => connectAgent(other, await other.newAgent({ sandbox })),
    ];
    for (const [index, connect] of others.entries()) {
      await using stranger = await connect();
      // One that has an answer of its own, and so a place where it is kept.
      await stranger.call(tool, input);
      const { structured } = await stranger.call('next_page', { cursor });
      expect(structured.error, String(index)).toMatchObject(unknown);
    }
    const rest = mustBe(400, await account.call(agentId(), 'next_page', { cursor }, { 'croft-session': 'another' }));
    expect(rest.error).toMatchObject(unknown);
    expect((await own.call('next_page', { cursor })).structured.content.length).toBeGreaterThan(5_000);
  });

  test('works in the next connection of the same session, until that session ends', async () => {
    const connect = () => connectAgent(account, agentId(), { session: `kept-${tool}` });
    await using first = await connect();
    const { nextCursor: cursor } = (await first.call(tool, input)).structured;
    await using second = await connect();
    expect((await second.call('next_page', { cursor })).isError).toBe(false);
    await account.send('DELETE', `/v1/agents/${agentId()}/sessions/kept-${tool}`);
    expect((await second.call('next_page', { cursor })).structured.error).toMatchObject(unknown);
  });
});

test('a child session that may only read gets the rest of its own answers, and not of those of its parent', async () => {
  const workspaces = [{ name: 'w', workspaceId: fencedWorkspace }];
  const sandbox = await account.newSandbox({ permissionMode: 'bypass' });
  const agentId = await account.newAgent({ sandbox, workspaces });
  await using parent = await connectAgent(account, agentId);
  const { nextCursor: cursor } = (await parent.call('bash', { command })).structured;
  const { session } = mustBe(201, await account.send('POST', `/v1/agents/${agentId}/sessions`, { readOnly: true }));
  await using child = await connectAgent(account, agentId, { session });
  expect((await child.call('next_page', { cursor })).structured.error.code).toBe('E_INVALID_INPUT');
  const answer = await child.call('glob', { pattern: '**/*', limit: 10_000 });
  expect((await readWhole(child.call, answer)).match(/a-file-with-quite-a-long-name-\d+$/gm)).toHaveLength(files);
});

test('an answer over REST is not cut', async () => {
  const { output, nextCursor } = mustBe(200, await account.call(stateless, 'bash', { command }));
  expect(output).toBe(printed);
  expect(nextCursor).toBeUndefined();
});
