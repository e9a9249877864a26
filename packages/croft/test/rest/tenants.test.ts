import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoints } from '../../src/rest/dispatch/match-path.ts';
import type { Route } from '../../src/rest/platform/route.ts';
import { fillAccount, fillPath, type Ids } from './fill-account.ts';
import { adminToken, openFixture, type RestFixture } from './fixture.ts';

let fixture: RestFixture;
let mine: { accountId: string; token: string };
let theirs: { accountId: string; token: string };
let myIds: Ids & { accountId: string };
let theirIds: Ids & { accountId: string };

beforeAll(async () => {
  fixture = await openFixture({ limits: { requestsPerMinute: 100_000 } });
  mine = await fixture.addAccount('ann');
  theirs = await fixture.addAccount('bob');
  const body = { name: 'mine', config: {} };
  const { json } = await fixture.send('POST', '/v1/agents', { token: mine.token, body });
  myIds = { ...(await fillAccount(fixture, mine.token)), accountId: mine.accountId };
  theirIds = { ...(await fillAccount(fixture, theirs.token)), accountId: theirs.accountId };
  await fixture.send('PUT', '/v1/secrets/THEIRS', { token: theirs.token, body: { value: 'x' } });
  await fixture.send('POST', '/v1/runners', { token: theirs.token, body: { name: 'THEIRS' } });
  theirIds = { ...theirIds, name: 'THEIRS' };
  expect(json.accountId).toBe(mine.accountId);
});

afterAll(() => fixture[Symbol.asyncDispose]());

const withIds = endpoints
  .filter(({ pattern, audience }) => pattern.includes('{') && audience === 'account')
  .flatMap(({ pattern, routes }) => Object.values(routes).map((route: Route) => ({ pattern, route })))
  // A secret of any name may be put, because it becomes the caller's own.
  .filter(({ pattern, route }) => !(pattern.endsWith('/secrets/{name}') && route.method === 'PUT'))
  .map(({ pattern, route }) => ({ name: `${route.method} ${pattern}`, pattern, route }));

function toBody(method: string, pattern: string) {
  if (method === 'PATCH') return { body: { name: 'taken over' } };
  if (pattern.endsWith('/terminals')) return { body: { workspaceId: myIds.workspaceId } };
  return method === 'POST' ? { body: pattern.includes('/approvals/') ? { decision: 'approve' } : {} } : {};
}

describe.each(withIds)('$name', ({ pattern, route: { method } }) => {
  test('does not find a record of another account, and changes nothing', async () => {
    const before = fixture.dump();
    const path = fillPath(pattern, theirIds);
    const body = toBody(method, pattern);
    const answer = await fixture.send(method, path, { token: mine.token, ...body });
    expect(answer.status, answer.text).toBe(404);
    expect(answer.json.error.message).toMatch(
      /^(Agent|Sandbox|Workspace|Approval|Key|Secret|Session|Runner) not found$/,
    );
    // The same answer as for an unknown id, so that nobody learns whether the id exists.
    const nobodys = Object.fromEntries(Object.entries(theirIds).map(([key, id]) => [key, noOnes(id)]));
    const missing = await fixture.send(method, fillPath(pattern, nobodys), {
      token: mine.token,
      ...body,
    });
    expect(missing.text).toBe(answer.text);
    expect(fixture.dump()).toEqual(before);
  });

  test('does not find a record of another account below one of its own', async () => {
    const names = [...pattern.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    const last = names.at(-1) ?? '';
    if (names.length < 2 || pattern.includes('/tools/')) return;
    const before = fixture.dump();
    const mixed = { ...myIds, [last]: `${theirIds[last as keyof Ids]}-of-theirs` };
    expect(await fixture.send(method, fillPath(pattern, mixed), { token: mine.token })).toMatchObject({ status: 404 });
    expect(fixture.dump()).toEqual(before);
  });
});

const mirrored = endpoints
  .filter(({ pattern, audience }) => audience === 'admin' && /\{accountId\}.+\{/.test(pattern))
  .flatMap(({ pattern, routes }) => Object.values(routes).map((route: Route) => ({ pattern, route })))
  .map(({ pattern, route }) => ({ name: `${route.method} ${pattern}`, pattern, route }));

test.each(mirrored)(
  '$name finds nothing of one account in another, for the admin as well',
  async ({ pattern, route }) => {
    const before = fixture.dump();
    const path = fillPath(pattern, { ...theirIds, accountId: mine.accountId });
    const body = toBody(route.method, pattern);
    const answer = await fixture.send(route.method, path, { token: adminToken, ...body });
    expect(answer.status, answer.text).toBe(404);
    expect(fixture.dump()).toEqual(before);
  },
);

describe('a list', () => {
  test.each(['agents', 'sandboxes', 'workspaces', 'approvals', 'keys', 'runners', 'secrets', 'audit'])(
    'of %s has nothing of another account, on any page',
    async (name) => {
      const ofTheirs = [...Object.values(theirIds), theirs.accountId];
      for (const query of ['', '?after=0', '?after=1', '?after=999999', '?limit=200']) {
        const { text } = await fixture.send('GET', `/v1/${name}${query}`, { token: mine.token });
        for (const id of ofTheirs.filter((id) => id.includes('_'))) expect(text).not.toContain(id);
      }
    },
  );

  test('of approvals for an agent of another account is empty', async () => {
    const answer = await fixture.send('GET', `/v1/approvals?agentId=${theirIds.agentId}`, { token: mine.token });
    expect(answer.json).toEqual({ approvals: [] });
  });
});

test.each([
  ['a sandbox', () => ({ sandbox: theirIds.sandboxId })],
  ['a workspace', () => ({ workspaces: [{ name: 'w', workspaceId: theirIds.workspaceId }] })],
  [
    'the sandbox of a workspace',
    () => ({ workspaces: [{ name: 'w', workspaceId: myIds.workspaceId, sandbox: theirIds.sandboxId }] }),
  ],
])('an agent cannot be given %s of another account', async (_, config) => {
  const before = fixture.dump();
  const body = { name: 'thief', config: config() };
  const made = await fixture.send('POST', '/v1/agents', { token: mine.token, body });
  expect(made.status, made.text).toBe(400);
  const path = `/v1/agents/${myIds.agentId}`;
  const changed = await fixture.send('PATCH', path, { token: mine.token, body: { config: config() } });
  expect(changed.status, changed.text).toBe(400);
  expect(fixture.dump()).toEqual(before);
});

test('an approval by another account does not let a call run', async () => {
  const decide = `/v1/approvals/${theirIds.approvalId}`;
  await fixture.send('POST', decide, { token: theirs.token, body: { decision: 'approve' } });
  const ran = fixture.ran.length;
  const answer = await fixture.send('POST', `/v1/agents/${myIds.agentId}/tools/ask`, {
    token: mine.token,
    body: { n: 1 },
    headers: { 'Croft-Approval': theirIds.approvalId },
  });
  expect(answer.status).toBe(409);
  expect(fixture.ran).toHaveLength(ran);
});

function noOnes(id: string): string {
  return id.includes('_') ? `${id.slice(0, id.indexOf('_') + 1)}${'0'.repeat(24)}` : `${id}0`;
}
