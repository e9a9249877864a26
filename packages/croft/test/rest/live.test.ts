import type { LiveSandboxes } from '@croft/protocol';
import { createClient } from '@croft/sdk';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { followEvents } from '../support/follow-events.ts';
import { type Account, mustBe, type Platform, startPlatform } from '../support/servers/platform.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
const patience = { timeout: 30_000, interval: 50 };

/** What is seen of an agent while it works. */
let platform: Platform;
let account: Account;
let sandboxId: string;
let workspaceId: string;
let agentId: string;

beforeAll(async () => {
  platform = await startPlatform();
  account = await platform.newAccount();
  // A sandbox with a network has a proxy, which listens in it.
  const network = { mode: 'restricted', allowDomains: ['example.com'] };
  sandboxId = await account.newSandbox({ permissionMode: 'bypass', network });
  workspaceId = await account.newWorkspace();
  await account.send('PUT', '/v1/secrets/DEPLOY', { value: 'kP7zQ2wX9vB4mN6t' });
  agentId = await account.newAgent({ sandbox: sandboxId, workspaces: [{ name: 'w', workspaceId }] });
});
afterAll(() => platform[Symbol.asyncDispose]());

const live = async (): Promise<LiveSandboxes> =>
  mustBe(200, await account.send('GET', `/v1/sandboxes/${sandboxId}/live`));

let calls = 0;

/** Starts a call that waits for a file of its own, and returns its id and its end. */
async function startCall(command: string, secrets: readonly string[] = []) {
  const go = `go-${++calls}`;
  using feed = await followEvents(`${account.url}/v1/events`, { authorization: `Bearer ${account.secret}` });
  const ended = account.call(agentId, 'bash', {
    command: `${command}; until [ -e ${go} ]; do read -rt 0.05 <> <(:); done; rm ${go}`,
    secrets,
  });
  const find = () => feed.events.find(({ type }) => type === 'call.started') as { call: string } | undefined;
  const { call } = await vi.waitFor(() => find() ?? expect.unreachable('the call has not started'), patience);
  return {
    call,
    async end() {
      await account.send('PUT', `/v1/workspaces/${workspaceId}/file?path=${go}`, '');
      return ended;
    },
  };
}

describe('the output of a running call', () => {
  const outputOf = (call: string, secret = account.secret) =>
    platform.request(secret, 'GET', `/v1/agents/${agentId}/calls/${call}/output`);

  test('is what it printed so far, without secrets, as long as it runs', async () => {
    const { call, end } = await startCall('echo one; echo "it is $DEPLOY today"; printf "and kP7zQ2"', ['DEPLOY']);
    // The end of it may be the beginning of the secret.
    const output = 'one\nit is [REDACTED:deploy] today\nand ';
    await vi.waitFor(async () => expect((await outputOf(call)).body.output).toBe(output), patience);
    const client = createClient({ baseUrl: account.url, token: account.secret });
    expect(await client.agent(agentId).output(call)).toBe(output);
    expect((await end()).status).toBe(200);
    expect((await outputOf(call)).status).toBe(404);
  });

  test('is of the account and of keys that may read', async () => {
    const { call, end } = await startCall('echo mine');
    const other = await platform.newAccount('bob');
    expect((await outputOf(call, other.secret)).body.error.message).toBe('Agent not found');
    const key = async (body: object) => mustBe(201, await account.send('POST', '/v1/keys', body)).secret;
    expect((await outputOf(call, await key({ name: 'caller', scopes: ['call'] }))).status).toBe(403);
    expect((await outputOf(call, await key({ name: 'bound', scopes: ['read'], agents: [agentId] }))).status).toBe(403);
    expect((await outputOf(call, await key({ name: 'reader', scopes: ['read'] }))).status).toBe(200);
    await end();
  });
});

describe('the sandboxes that are open', () => {
  test('show what they use and where they listen, and go when they are closed', async () => {
    const listen = `node -e "require('http').createServer().listen(4711, '127.0.0.1')" & while :; do :; done & sleep 0.1`;
    const { end } = await startCall(listen);
    const first = await vi.waitFor(async () => {
      const { open } = await live();
      expect(open.flatMap(({ ports }) => ports)).toContainEqual({ port: 4711, address: '127.0.0.1' });
      return open[0];
    }, patience);
    expect(first).toMatchObject({ workspaceId, workspace: 'w', openedBy: agentId });
    expect(first?.memoryBytes).toBeGreaterThan(1_000_000);
    expect(first?.memoryBytes).toBeLessThan(first?.limits.memoryBytes ?? 0);
    expect(first?.processes).toBeGreaterThan(2);
    await vi.waitFor(async () => {
      const { open } = await live();
      expect(open[0]?.processorMs).toBeGreaterThan((first?.processorMs ?? 0) + 20);
    }, patience);
    // The proxy of the sandbox is no program of the agent.
    expect(first?.ports.map(({ port }) => port)).toEqual([4711]);
    await end();
    await account.send('DELETE', `/v1/agents/${agentId}/sessions/default`);
    await vi.waitFor(async () => expect((await live()).open).toEqual([]), patience);
  });

  test('are those of the account and of the definition', async () => {
    const { end } = await startCall('true');
    await vi.waitFor(async () => expect((await live()).open).toHaveLength(1), patience);
    const other = await account.newSandbox();
    expect(mustBe(200, await account.send('GET', `/v1/sandboxes/${other}/live`)).open).toEqual([]);
    const bob = await platform.newAccount('bob-2');
    expect((await bob.send('GET', `/v1/sandboxes/${sandboxId}/live`)).body.error.message).toBe('Sandbox not found');
    await end();
  });
});

test('a checkpoint names the call that left it, as the end of the call does', async () => {
  await account.call(agentId, 'write', { file_path: 'a.md', content: 'one' });
  await account.call(agentId, 'bash', { command: 'echo two > a.md' });
  const { checkpoints } = mustBe(200, await account.send('GET', `/v1/workspaces/${workspaceId}/checkpoints?limit=2`));
  const { audit } = mustBe(200, await account.send('GET', '/v1/audit?order=newest&kind=call'));
  const ended = (audit as { action: string; details: string; target: string }[])
    .filter(({ action, target }) => action === 'call.ended' && ['bash', 'write'].includes(target))
    .map(({ details }) => JSON.parse(details).call);
  expect(checkpoints.map(({ call }: { call: string }) => call)).toEqual(ended.slice(0, 2));
});

test('an approval says what the command would reach', async () => {
  const network = { mode: 'restricted', allowDomains: ['registry.example.org'], allowCidrs: ['10.1.0.0/16'] };
  const careful = await account.newAgent({
    sandbox: await account.newSandbox({ permissionMode: 'ask', network }),
    workspaces: [{ name: 'w', workspaceId }],
  });
  const { approval } = mustBe(202, await account.call(careful, 'bash', { command: 'id' }));
  const shown = mustBe(200, await account.send('GET', `/v1/approvals/${approval.approvalId}`)).approval;
  expect(shown.setting).toMatchObject({ network: 'restricted', hosts: ['registry.example.org', '10.1.0.0/16'] });
  const write = mustBe(202, await account.call(careful, 'write', { file_path: 'b', content: 'c' })).approval;
  expect(write.setting?.network).toBeUndefined();
});
