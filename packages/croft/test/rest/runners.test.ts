import { RunnerList, RunnerMade } from '@croft/protocol';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminToken, codeOf, openFixture, type RestFixture } from './fixture.ts';

let fixture: RestFixture;
let token: string;
let accountId: string;
let theirs: string;

beforeAll(async () => {
  fixture = await openFixture({ limits: { requestsPerMinute: 100_000 }, quotas: { runners: 3 } });
  ({ token, accountId } = await fixture.addAccount('ann'));
  ({ token: theirs } = await fixture.addAccount('bob'));
});
afterAll(() => fixture[Symbol.asyncDispose]());

const create = (body: unknown, as = token) => fixture.send('POST', '/v1/runners', { token: as, body });
const namesOf = async (as = token) => {
  const { json } = await fixture.send('GET', '/v1/runners', { token: as });
  return RunnerList.parse(json).runners.map(({ name, state }) => `${name} ${state}`);
};

describe('/v1/runners', () => {
  test('creates, shows, rotates and revokes, and shows a token only when it is created', async () => {
    const made = await create({ name: 'laptop' });
    expect(made.status, made.text).toBe(201);
    const { runner, token: first } = RunnerMade.strict().parse(made.json);
    expect(runner).toMatchObject({ name: 'laptop', state: 'offline' });
    expect(await namesOf()).toEqual(['laptop offline']);
    const shown = await fixture.send('GET', '/v1/runners/laptop', { token });
    expect(shown.json).toEqual(runner);

    const rotated = await fixture.send('POST', '/v1/runners/laptop/rotate', { token });
    expect(rotated.status, rotated.text).toBe(200);
    const { token: second } = RunnerMade.parse(rotated.json);
    expect(second).not.toBe(first);
    expect(await fixture.registry.runners.authenticate(first)).toBeUndefined();
    expect(await fixture.registry.runners.authenticate(second)).toMatchObject({ name: 'laptop', accountId });

    // A runner token is refused by REST.
    for (const path of ['/v1/account', '/v1/runners', '/v1/agents'])
      expect(await fixture.send('GET', path, { token: second })).toMatchObject({ status: 401 });
    for (const path of ['/v1/runners', '/v1/runners/laptop', '/v1/keys', '/v1/audit']) {
      const { text } = await fixture.send('GET', path, { token });
      expect(text).not.toContain(second);
    }

    const revoked = await fixture.send('DELETE', '/v1/runners/laptop', { token });
    expect(revoked.json).toEqual({ deleted: true });
    expect(await fixture.registry.runners.authenticate(second)).toBeUndefined();
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/rotate'],
    ] as const)
      expect(await fixture.send(method, `/v1/runners/laptop${path}`, { token })).toMatchObject({ status: 404 });
    expect(await namesOf()).toEqual([]);
  });

  test('has unique names in an account, a limited number, and no names of other accounts', async () => {
    for (const name of ['a', 'b', 'c']) expect(await create({ name })).toMatchObject({ status: 201 });
    expect(codeOf(await create({ name: 'a' }))).toBe('E_ALREADY_EXISTS');
    const over = await create({ name: 'd' });
    expect(codeOf(over)).toBe('E_QUOTA');
    expect(await namesOf()).toEqual(['a offline', 'b offline', 'c offline']);
    expect(await namesOf(theirs)).toEqual([]);
    expect(await create({ name: 'a' }, theirs)).toMatchObject({ status: 201 });
    for (const method of ['GET', 'DELETE'])
      expect(await fixture.send(method, '/v1/runners/b', { token: theirs })).toMatchObject({ status: 404 });
    await fixture.send('DELETE', '/v1/runners/a', { token: theirs });
    expect(await namesOf()).toContain('a offline');
    for (const name of ['a', 'b', 'c']) await fixture.send('DELETE', `/v1/runners/${name}`, { token });
  });

  test.each([
    ['no name', {}],
    ['a path for a name', { name: '../x' }],
    ['a scope', { name: 'x', scopes: ['*'] }],
    ['a time that is none', { name: 'x', expiresAt: 'tomorrow' }],
    ['a time that is over', { name: 'x', expiresAt: '2020-01-01T00:00:00Z' }],
  ])('refuses %s and changes nothing', async (_, body) => {
    const before = fixture.dump();
    const answer = await create(body);
    expect([answer.status, codeOf(answer)]).toEqual([400, 'E_INVALID_INPUT']);
    expect(fixture.dump()).toEqual(before);
  });

  test('works for the admin too, in an account', async () => {
    const path = `/accounts/${accountId}/runners`;
    const made = await fixture.send('POST', path, { token: adminToken, body: { name: 'admins' } });
    expect(made.status, made.text).toBe(201);
    expect(await namesOf()).toEqual(['admins offline']);
    expect(await fixture.send('DELETE', `${path}/admins`, { token: adminToken })).toMatchObject({ status: 200 });
    expect(await namesOf()).toEqual([]);
  });
});

describe('a ticket for a terminal', () => {
  test('is for a sandbox and a workspace of the account, and needs the scope call', async () => {
    const { sandboxId } = (await fixture.send('POST', '/v1/sandboxes', { token, body: { name: 's', config: {} } }))
      .json;
    const { workspaceId } = (await fixture.send('POST', '/v1/workspaces', { token, body: { name: 'w', config: {} } }))
      .json;
    const ask = (body: unknown, as = token) =>
      fixture.send('POST', `/v1/sandboxes/${sandboxId}/terminals`, { token: as, body });
    const given = await ask({ workspaceId });
    expect(given.status, given.text).toBe(201);
    expect(given.json.path).toBe(`/v1/sandboxes/${sandboxId}/terminal?ticket=${given.json.ticket}`);
    expect((await ask({ workspaceId })).json.ticket).not.toBe(given.json.ticket);
    const other = await fixture.send('POST', '/v1/workspaces', { token: theirs, body: { name: 'w', config: {} } });
    expect(await ask({ workspaceId: other.json.workspaceId })).toMatchObject({ status: 404 });
    expect(await ask({ workspaceId }, theirs)).toMatchObject({ status: 404 });
    for (const wrong of [{ rows: 0 }, { columns: 1001 }, { from: -1 }, { command: 'sh' }])
      expect(await ask({ workspaceId, ...wrong })).toMatchObject({ status: 400 });
    // Without an upgrade there is nothing to see, and the ticket is good for no other place.
    expect(await fixture.send('GET', given.json.path)).toMatchObject({ status: 401 });
    expect(await fixture.send('GET', '/v1/account', { token: given.json.ticket })).toMatchObject({ status: 401 });
  });
});
