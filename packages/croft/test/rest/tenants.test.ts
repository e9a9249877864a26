import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { places } from '../../src/rest/match.ts';
import type { Route } from '../../src/rest/route.ts';
import { fillAccount, fillPath, type Ids } from './everything.ts';
import { adminToken, type Ground, openGround } from './ground.ts';

let ground: Ground;
let mine: { accountId: string; token: string };
let theirs: { accountId: string; token: string };
let myIds: Ids & { accountId: string };
let theirIds: Ids & { accountId: string };

beforeAll(async () => {
  ground = await openGround({ limits: { requestsPerMinute: 100_000 } });
  mine = await ground.addAccount('ann');
  theirs = await ground.addAccount('bob');
  const body = { name: 'mine', config: {} };
  const { json } = await ground.send('POST', '/v1/agents', { token: mine.token, body });
  myIds = { ...(await fillAccount(ground, mine.token)), accountId: mine.accountId };
  theirIds = { ...(await fillAccount(ground, theirs.token)), accountId: theirs.accountId };
  await ground.send('PUT', '/v1/secrets/THEIRS', { token: theirs.token, body: { value: 'x' } });
  await ground.send('POST', '/v1/runners', { token: theirs.token, body: { name: 'THEIRS' } });
  theirIds = { ...theirIds, name: 'THEIRS' };
  expect(json.accountId).toBe(mine.accountId);
});

afterAll(() => ground[Symbol.asyncDispose]());

const withIds = places
  .filter(({ pattern, audience }) => pattern.includes('{') && audience === 'account')
  .flatMap(({ pattern, routes }) => Object.values(routes).map((route: Route) => ({ pattern, route })))
  // Whatever name a secret has, it may be put: it is the caller's own.
  .filter(({ pattern, route }) => !(pattern.endsWith('/secrets/{name}') && route.method === 'PUT'))
  .map(({ pattern, route }) => ({ name: `${route.method} ${pattern}`, pattern, route }));

function toBody(method: string, pattern: string) {
  if (method === 'PATCH') return { body: { name: 'taken over' } };
  if (pattern.endsWith('/terminals')) return { body: { workspaceId: myIds.workspaceId } };
  return method === 'POST' ? { body: pattern.includes('/approvals/') ? { decision: 'approve' } : {} } : {};
}

describe.each(withIds)('$name', ({ pattern, route: { method } }) => {
  test('does not find what another account has, and changes nothing', async () => {
    const before = ground.dump();
    const path = fillPath(pattern, theirIds);
    const body = toBody(method, pattern);
    const answer = await ground.send(method, path, { token: mine.token, ...body });
    expect(answer.status, answer.text).toBe(404);
    expect(answer.json.error.message).toMatch(
      /^(Agent|Sandbox|Workspace|Approval|Key|Secret|Session|Runner) not found$/,
    );
    // The same as for what nobody has: whether it exists cannot be told.
    const nobodys = Object.fromEntries(Object.entries(theirIds).map(([key, id]) => [key, noOnes(id)]));
    const missing = await ground.send(method, fillPath(pattern, nobodys), {
      token: mine.token,
      ...body,
    });
    expect(missing.text).toBe(answer.text);
    expect(ground.dump()).toEqual(before);
  });

  test('with their id in the last place and my own before it is not found either', async () => {
    const names = [...pattern.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    const last = names.at(-1) ?? '';
    if (names.length < 2 || pattern.includes('/tools/')) return;
    const before = ground.dump();
    const mixed = { ...myIds, [last]: `${theirIds[last as keyof Ids]}-of-theirs` };
    expect(await ground.send(method, fillPath(pattern, mixed), { token: mine.token })).toMatchObject({ status: 404 });
    expect(ground.dump()).toEqual(before);
  });
});

const mirrored = places
  .filter(({ pattern, audience }) => audience === 'admin' && /\{accountId\}.+\{/.test(pattern))
  .flatMap(({ pattern, routes }) => Object.values(routes).map((route: Route) => ({ pattern, route })))
  .map(({ pattern, route }) => ({ name: `${route.method} ${pattern}`, pattern, route }));

test.each(mirrored)(
  '$name finds nothing of one account in another, for the admin as well',
  async ({ pattern, route }) => {
    const before = ground.dump();
    const path = fillPath(pattern, { ...theirIds, accountId: mine.accountId });
    const body = toBody(route.method, pattern);
    const answer = await ground.send(route.method, path, { token: adminToken, ...body });
    expect(answer.status, answer.text).toBe(404);
    expect(ground.dump()).toEqual(before);
  },
);

describe('a list', () => {
  test.each(['agents', 'sandboxes', 'workspaces', 'approvals', 'keys', 'runners', 'secrets', 'audit'])(
    'of %s has nothing of another account, whatever page is asked for',
    async (name) => {
      const ofTheirs = [...Object.values(theirIds), theirs.accountId];
      for (const query of ['', '?after=0', '?after=1', '?after=999999', '?limit=200']) {
        const { text } = await ground.send('GET', `/v1/${name}${query}`, { token: mine.token });
        for (const id of ofTheirs.filter((id) => id.includes('_'))) expect(text).not.toContain(id);
      }
    },
  );

  test('of approvals can be asked for by an agent of another account, and is empty', async () => {
    const answer = await ground.send('GET', `/v1/approvals?agentId=${theirIds.agentId}`, { token: mine.token });
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
  const before = ground.dump();
  const body = { name: 'thief', config: config() };
  const made = await ground.send('POST', '/v1/agents', { token: mine.token, body });
  expect(made.status, made.text).toBe(400);
  const path = `/v1/agents/${myIds.agentId}`;
  const changed = await ground.send('PATCH', path, { token: mine.token, body: { config: config() } });
  expect(changed.status, changed.text).toBe(400);
  expect(ground.dump()).toEqual(before);
});

test('an approval of another account does not let a call run', async () => {
  const decide = `/v1/approvals/${theirIds.approvalId}`;
  await ground.send('POST', decide, { token: theirs.token, body: { decision: 'approve' } });
  const ran = ground.ran.length;
  const answer = await ground.send('POST', `/v1/agents/${myIds.agentId}/tools/ask`, {
    token: mine.token,
    body: { n: 1 },
    headers: { 'Croft-Approval': theirIds.approvalId },
  });
  expect(answer.status).toBe(409);
  expect(ground.ran).toHaveLength(ran);
});

function noOnes(id: string): string {
  return id.includes('_') ? `${id.slice(0, id.indexOf('_') + 1)}${'0'.repeat(24)}` : `${id}0`;
}
