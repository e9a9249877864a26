import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, connectAgent, mustBe, type Platform, startPlatform } from '../support/servers/platform.ts';
import { inner, innerNames, serverFile } from './fixture.ts';

let platform: Platform;
let account: Account;

beforeAll(async () => {
  platform = await startPlatform(['--allow-control', '.mcp.json']);
  account = await platform.newAccount();
});
afterAll(() => platform[Symbol.asyncDispose]());

interface AgentOptions {
  readonly permissionMode?: string;
  readonly files?: Record<string, string>;
  readonly sandbox?: null;
}

/** An agent whose workspace has a server in it. */
async function newAgent(config: object, { permissionMode = 'bypass', files = {}, sandbox }: AgentOptions = {}) {
  const sandboxId = await account.newSandbox({ permissionMode });
  const workspaceId = await account.newWorkspace();
  for (const [path, content] of Object.entries({ 'server.mjs': serverFile.toString(), ...files })) {
    const response = await fetch(new URL(`/v1/workspaces/${workspaceId}/file?path=${path}`, account.url), {
      method: 'PUT',
      headers: { authorization: `Bearer ${account.secret}` },
      body: content,
    });
    expect(response.status, await response.text()).toBeLessThan(300);
  }
  const workspaces = [{ name: 'main', workspaceId, ...(sandbox === null && { sandbox }) }];
  return account.newAgent({ sandbox: sandboxId, workspaces, ...config });
}

const mcpServers = { inner: inner() };

describe('an agent with servers', () => {
  test.each(['2025', '2026'] as const)('has their tools, in %s, and each session has its own process', async (era) => {
    const agentId = await newAgent({ mcpServers });
    await using one = await connectAgent(account, agentId, { era, session: 'one' });
    await using other = await connectAgent(account, agentId, { era, session: 'other' });
    expect(await innerNames(one as never)).toContain('mcp__inner__echo');
    expect((await one.call('mcp__inner__count')).structured).toEqual({ calls: 1 });
    expect((await one.call('mcp__inner__count')).structured).toEqual({ calls: 2 });
    expect((await other.call('mcp__inner__count')).structured).toEqual({ calls: 1 });
    expect((await one.call('mcp__inner__where')).text).toBe('/workspaces/main');
  });

  test('has their tools over REST, and a key that may only read starts no server', async () => {
    const agentId = await newAgent({ mcpServers });
    const { secret } = mustBe(201, await account.send('POST', '/v1/keys', { name: 'reader', scopes: ['read'] }));
    const path = `/v1/agents/${agentId}/tools`;
    const seen = mustBe(200, await platform.request(secret, 'GET', path));
    expect(seen.tools.map(({ name }: { name: string }) => name)).not.toContain('mcp__inner__echo');
    expect((await account.tools(agentId)).map(({ name }) => name)).toContain('mcp__inner__echo');
    expect(mustBe(200, await account.call(agentId, 'mcp__inner__echo', { a: 1 }))).toEqual({ text: '{"a":1}' });
    const { audit } = mustBe(200, await account.send('GET', `/v1/audit?agentId=${agentId}`));
    expect(JSON.stringify(audit)).toContain('mcp__inner__echo');
  });

  test('passes secrets of its account to them by name, and neither shows the values', async () => {
    mustBe(200, await account.send('PUT', '/v1/secrets/DEPLOY', { value: 'a-secret-of-the-account-4711' }));
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a secret is named.
    const env = { TOKEN: '${secret:DEPLOY}', PLAIN: 'not-to-be-shown' };
    const agentId = await newAgent({ mcpServers: { inner: inner('plain', { env }) } });
    const answer = mustBe(200, await account.call(agentId, 'mcp__inner__secret'));
    expect(answer.token).toMatch(/REDACTED/);
    const shown = mustBe(200, await account.send('GET', `/v1/agents/${agentId}`));
    expect(JSON.stringify(shown)).not.toContain('not-to-be-shown');
    expect(shown.config.mcpServers.inner.command).toBe('node');
  });

  test('gets other tools at once when its record changes, and the old process ends', async () => {
    const agentId = await newAgent({ mcpServers });
    mustBe(200, await account.call(agentId, 'mcp__inner__count'));
    const changed = { config: { mcpServers: { inner: null, later: inner() } } };
    mustBe(200, await account.send('PATCH', `/v1/agents/${agentId}`, changed));
    expect((await account.call(agentId, 'mcp__inner__count')).status).toBe(404);
    expect(mustBe(200, await account.call(agentId, 'mcp__later__count'))).toEqual({ calls: 1 });
  });

  test('has none if its workspace has no sandbox', async () => {
    const agentId = await newAgent({ mcpServers }, { sandbox: null });
    expect((await account.tools(agentId)).filter(({ name }) => name.startsWith('mcp__'))).toEqual([]);
    expect((await account.call(agentId, 'mcp__inner__echo')).status).toBe(404);
  });

  test.each([
    { a__b: inner() },
    { a: { url: 'https://example.com/mcp' } },
    { a: { ...inner(), cwd: '../..' } },
    { a: { ...inner(), env: { 'NO SUCH': '' } } },
    { a: { ...inner(), timeoutSeconds: 100_000 } },
    'none',
  ])('with a wrong record is refused: %#', async (servers) => {
    const answer = await account.send('POST', '/v1/agents', { name: 'wrong', config: { mcpServers: servers } });
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'E_INVALID_INPUT' } } });
  });
});

describe('.mcp.json of a workspace', () => {
  const files = { '.mcp.json': JSON.stringify({ mcpServers: { own: inner() } }) };

  test('counts only if the record allows it', async () => {
    const without = await newAgent({}, { files });
    expect((await account.tools(without)).filter(({ name }) => name.startsWith('mcp__'))).toEqual([]);
    expect((await account.call(without, 'mcp__own__echo')).status).toBe(404);
    const allowed = await newAgent({ workspaceMcp: true }, { files });
    expect((await account.tools(allowed)).map(({ name }) => name)).toContain('mcp__own__echo');
    expect(mustBe(200, await account.call(allowed, 'mcp__own__echo', { a: 1 }))).toEqual({ text: '{"a":1}' });
  });

  test('does not count if commands need approvals', async () => {
    const agentId = await newAgent({ workspaceMcp: true }, { files, permissionMode: 'edit' });
    expect((await account.tools(agentId)).filter(({ name }) => name.startsWith('mcp__'))).toEqual([]);
  });
});

describe('an agent whose calls need approvals', () => {
  test('lists the tools, and a call waits for an approval of exactly that call', async () => {
    const agentId = await newAgent({ mcpServers }, { permissionMode: 'ask' });
    expect((await account.tools(agentId)).map(({ name }) => name)).toContain('mcp__inner__count');
    const { approval } = mustBe(202, await account.call(agentId, 'mcp__inner__echo', { a: 1 }));
    expect(approval).toMatchObject({ tool: 'mcp__inner__echo', preview: expect.stringContaining('"a": 1') });
    mustBe(200, await account.approve(approval.approvalId));
    const headers = { 'croft-approval': approval.approvalId };
    expect((await account.call(agentId, 'mcp__inner__echo', { a: 2 }, headers)).status).toBe(409);
    expect((await account.call(agentId, 'mcp__inner__count', { a: 1 }, headers)).status).toBe(409);
    expect(mustBe(200, await account.call(agentId, 'mcp__inner__echo', { a: 1 }, headers))).toEqual({
      text: '{"a":1}',
    });
    expect((await account.call(agentId, 'mcp__inner__echo', { a: 1 }, headers)).status).toBe(409);
  });

  test('asks the person at the client, and obeys a refusal', async () => {
    const agentId = await newAgent({ mcpServers }, { permissionMode: 'ask' });
    const asked: string[] = [];
    const onAsked = (message: string) => {
      asked.push(message);
      return { action: 'decline' as const };
    };
    await using client = await connectAgent(account, agentId, { era: '2025', onAsked });
    const answer = await client.call('mcp__inner__count');
    expect(answer).toMatchObject({ isError: true, structured: { error: { code: 'E_APPROVAL_DENIED' } } });
    expect(asked).toHaveLength(1);
  });
});
