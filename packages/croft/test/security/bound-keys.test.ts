import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoints } from '../../src/rest/dispatch/match-path.ts';
import type { Route } from '../../src/rest/platform/route.ts';
import { fillAccount, fillPath } from '../rest/fill-account.ts';
import { openFixture } from '../rest/fixture.ts';
import { eras } from '../support/harness.ts';
import {
  type Account,
  connectAgent,
  type Json,
  mustBe,
  openAccount,
  type Platform,
  startPlatform,
} from '../support/servers/platform.ts';

let platform: Platform;
let account: Account;
let own: string;
let other: string;
let bound: Account;

beforeAll(async () => {
  platform = await startPlatform();
  account = await platform.newAccount('owner');
  [own, other] = [await newAgent(), await newAgent()];
  bound = await newKey({ name: 'bound', scopes: ['*'], agents: [own] });
});
afterAll(() => platform[Symbol.asyncDispose]());

async function newAgent() {
  const workspaces = [{ name: 'work', workspaceId: await account.newWorkspace() }];
  return account.newAgent({ sandbox: await account.newSandbox({ permissionMode: 'ask' }), workspaces });
}

async function newKey(body: object) {
  const { secret } = mustBe(201, await account.send('POST', '/v1/keys', body));
  return openAccount(platform.url, secret, account.accountId);
}

const write = { file_path: 'a.txt', content: 'a' };

describe('a key that is bound to one agent', () => {
  test('calls that agent and no other, over REST and MCP', async () => {
    mustBe(200, await bound.call(own, 'glob', { pattern: '*' }));
    for (const [method, path, body] of [
      ['POST', 'tools/glob', { pattern: '*' }],
      ['GET', 'tools', undefined],
      ['GET', 'prompt', undefined],
      ['GET', 'sessions', undefined],
      ['POST', 'sessions', {}],
      ['DELETE', 'sessions/default', undefined],
    ] as const) {
      const refused = await bound.send(method, `/v1/agents/${other}/${path}`, body);
      expect([path, refused.status, refused.body.error]).toEqual([
        path,
        404,
        expect.objectContaining({ code: 'E_NOT_FOUND', message: 'Agent not found' }),
      ]);
    }
    for (const era of eras) {
      await using connected = await connectAgent(bound, own, { era });
      expect((await connected.call('glob', { pattern: '*' })).isError).toBe(false);
      await expect(connectAgent(bound, other, { era })).rejects.toThrow();
    }
  });

  test('lists and shows its agent alone, and changes no agent', async () => {
    const { agents } = mustBe(200, await bound.send('GET', '/v1/agents'));
    expect(agents.map(({ agentId }: Json) => agentId)).toEqual([own]);
    mustBe(200, await bound.send('GET', `/v1/agents/${own}`));
    expect((await bound.send('GET', `/v1/agents/${other}`)).status).toBe(404);
    for (const [method, path, body] of [
      ['PATCH', `/v1/agents/${own}`, { config: { workspaces: [] } }],
      ['DELETE', `/v1/agents/${own}`, undefined],
      ['POST', '/v1/agents', { name: 'wider', config: {} }],
    ] as const)
      expect((await bound.send(method, path, body)).status).toBe(403);
  });

  test('sees and decides the approvals of its agent alone', async () => {
    const ask = async (agent: string) => mustBe(202, await account.call(agent, 'write', write)).approval.approvalId;
    const [mine, foreign] = [await ask(own), await ask(other)];
    const idsIn = ({ approvals }: Json) => approvals.map(({ approvalId }: Json) => approvalId);
    expect(idsIn(mustBe(200, await bound.send('GET', '/v1/approvals')))).toEqual([mine]);
    expect(idsIn(mustBe(200, await bound.send('GET', `/v1/approvals?agentId=${other}`)))).toEqual([]);
    expect((await bound.send('GET', `/v1/approvals/${foreign}`)).status).toBe(404);
    expect((await bound.approve(foreign)).status).toBe(404);
    expect(mustBe(200, await account.send('GET', `/v1/approvals/${foreign}`)).approval.state).toBe('pending');
    mustBe(200, await bound.approve(mine));
  });

  test('creates, lists, rotates and revokes only keys with no more access', async () => {
    for (const agents of [undefined, [other], [own, other]]) {
      const refused = await bound.send('POST', '/v1/keys', { name: 'wider', scopes: ['call'], agents });
      expect([agents, refused.status]).toEqual([agents, 403]);
    }
    const { key } = mustBe(
      201,
      await bound.send('POST', '/v1/keys', { name: 'equal', scopes: ['call', 'read'], agents: [own] }),
    );
    const wide = mustBe(201, await account.send('POST', '/v1/keys', { name: 'wide', scopes: ['call'] })).key;
    const both = mustBe(
      201,
      await account.send('POST', '/v1/keys', { name: 'both', scopes: ['call'], agents: [own, other] }),
    ).key;
    const { keys } = mustBe(200, await bound.send('GET', '/v1/keys'));
    expect(keys.map(({ name }: Json) => name)).toEqual(['bound', 'equal']);
    for (const { keyId, name } of [wide, both]) {
      expect((await bound.send('POST', `/v1/keys/${keyId}/rotate`)).status).toBe(404);
      expect((await bound.send('DELETE', `/v1/keys/${keyId}`)).status).toBe(404);
      const taken = await bound.send('POST', '/v1/keys', { name, scopes: ['call'], agents: [own] });
      expect([taken.status, JSON.stringify(taken.body).includes(keyId)]).toEqual([409, false]);
    }
    // Rotated, it is bound as before.
    const rotated = mustBe(200, await bound.send('POST', `/v1/keys/${key.keyId}/rotate`));
    expect(rotated.key.agents).toEqual([own]);
    const again = openAccount(platform.url, rotated.secret, account.accountId);
    mustBe(200, await again.call(own, 'glob', { pattern: '*' }));
    expect((await again.call(other, 'glob', { pattern: '*' })).status).toBe(404);
  });

  test('does not see sessions of another key', async () => {
    mustBe(200, await account.call(own, 'glob', { pattern: '*' }, { 'croft-session': 'of-another' }));
    mustBe(200, await bound.call(own, 'glob', { pattern: '*' }, { 'croft-session': 'mine' }));
    const caller = await newKey({ name: 'caller', scopes: ['call'] });
    for (const key of [bound, caller]) {
      const { sessions } = mustBe(200, await key.send('GET', `/v1/agents/${own}/sessions`));
      expect(JSON.stringify(sessions)).not.toMatch(/key_|of-another/);
    }
  });
});

test.each([[['agent_0']], [[`agent_${'0'.repeat(24)}`]], [[]], ['agent'], [Array(101).fill('x')]])(
  'a key cannot be bound to anything but an agent of its account: %j',
  async (agents) => {
    const foreign = await account.send('POST', '/v1/keys', { name: 'nobody', scopes: ['call'], agents });
    expect([foreign.status, foreign.body.error.code]).toEqual([400, 'E_INVALID_INPUT']);
  },
);

test('a caller whose approval is requested or denied sees no id of a key', async () => {
  const caller = await newKey({ name: 'model', scopes: ['call'] });
  const session = mustBe(201, await caller.send('POST', `/v1/agents/${own}/sessions`, { parent: 'top' })).session;
  const { approval } = mustBe(202, await caller.call(own, 'write', write, { 'croft-session': session }));
  expect(approval).toMatchObject({ session, inbox: 'top', agentId: own });
  expect(JSON.stringify(approval)).not.toContain('key_');
  mustBe(200, await account.deny(approval.approvalId, 'no'));
  const denied = await caller.call(own, 'write', write, {
    'croft-session': session,
    'croft-approval': approval.approvalId,
  });
  expect(denied.body.error.code).toBe('E_APPROVAL_DENIED');
  expect(JSON.stringify(denied.body)).not.toContain('key_');
  const gone = await caller.call(own, 'glob', { pattern: '*' }, { 'croft-session': `ses_${'0'.repeat(24)}` });
  expect(JSON.stringify(gone.body)).not.toContain('key_');
});

test('a bound key is refused on every other route of an account, whatever its scopes', async () => {
  await using fixture = await openFixture({ limits: { requestsPerMinute: 100_000 } });
  const { token } = await fixture.addAccount('ann');
  const ids = await fillAccount(fixture, token);
  const { agentId } = (await fixture.send('POST', '/v1/agents', { token, body: { name: 'its', config: {} } })).json;
  const body = { name: 'bound', scopes: ['*'], agents: [agentId] };
  const { secret } = (await fixture.send('POST', '/v1/keys', { token, body })).json;
  const before = fixture.dump();
  const lists = ['GET /agents', 'GET /approvals', 'GET /keys', 'POST /keys'];
  const ofKey = ['GET /session'];
  for (const { pattern, audience, routes } of endpoints.filter((endpoint) => endpoint.audience === 'account')) {
    for (const route of Object.values(routes) as Route[]) {
      // A stream that does not end, and a link with the key's own rights: test/rest has what these give a bound key.
      if (['/events', '/session/links'].includes(route.path)) continue;
      const answer = await fixture.send(route.method, fillPath(pattern, ids), { token: secret });
      const isNarrowed = [...lists, ...ofKey].includes(`${route.method} ${route.path}`);
      expect([route.method, pattern, audience, isNarrowed || [403, 404].includes(answer.status)]).toEqual([
        ...[route.method, pattern, audience, true],
      ]);
      for (const id of [ids.agentId, ids.workspaceId, ids.sandboxId, ids.approvalId, ids.keyId])
        expect(answer.text).not.toContain(id);
    }
  }
  expect(fixture.dump()).toEqual(before);
});
