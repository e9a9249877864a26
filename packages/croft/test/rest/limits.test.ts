import { describe, expect, test } from 'vitest';
import { adminToken, codeOf, openFixture, serverToken } from './fixture.ts';

describe('an account that asks too much', () => {
  test('gets 429 alone, and may continue later', async () => {
    await using fixture = await openFixture({ limits: { requestsPerMinute: 30 } });
    fixture.clock.stoppedAt = Date.now();
    const ann = await fixture.addAccount('ann');
    const bob = await fixture.addAccount('bob');
    const ask = (token: string) => fixture.send('GET', '/v1/account', { token });
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask(ann.token)));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(10);
    for (const answer of refused) {
      expect(codeOf(answer)).toBe('E_RATE_LIMITED');
      const seconds = Number(answer.headers.get('retry-after'));
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(seconds).toBeLessThanOrEqual(3);
    }
    expect(await ask(bob.token)).toMatchObject({ status: 200 });
    expect(await fixture.send('GET', `/accounts/${ann.accountId}`, { token: adminToken })).toMatchObject({
      status: 200,
    });
    fixture.clock.aheadMs += 1000 * Number(refused[0]?.headers.get('retry-after'));
    expect(await ask(ann.token)).toMatchObject({ status: 200 });
  });

  test('has one limit for all of its keys, missing routes and refused requests', async () => {
    await using fixture = await openFixture({ limits: { requestsPerMinute: 10 } });
    fixture.clock.stoppedAt = Date.now();
    const ann = await fixture.addAccount('ann');
    const body = { name: 'second', scopes: ['read'] };
    const { secret } = (await fixture.send('POST', '/v1/keys', { token: ann.token, body })).json;
    const paths = ['/v1/account', '/v1/nothing', '/v1/sandboxes/none', '/v1/sandboxes?limit=x'];
    const statuses: number[] = [];
    for (let index = 0; index < 14; index += 1) {
      const token = index % 2 === 0 ? ann.token : secret;
      statuses.push((await fixture.send('GET', paths[index % 4] ?? '', { token })).status);
    }
    // One was used up to make the second key.
    expect(statuses.indexOf(429)).toBe(9);
    expect(statuses.slice(9)).toEqual(Array.from({ length: 5 }, () => 429));
  });
});

test('guessing keys is rate limited per address, and valid keys are not', async () => {
  await using fixture = await openFixture({ limits: { refusalsPerMinute: 20 } });
  fixture.clock.stoppedAt = Date.now();
  const ann = await fixture.addAccount('ann');
  const guess = (path: string) => fixture.send('GET', path, { token: 'a-guess' });
  const paths = ['/v1/account', '/accounts', '/mcp', '/nowhere'];
  const statuses: number[] = [];
  for (let index = 0; index < 30; index += 1) statuses.push((await guess(paths[index % 4] ?? '')).status);
  expect(statuses).toEqual(statuses.map((_, index) => (index < 20 ? 401 : 429)));
  const refused = await guess('/v1/account');
  expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(codeOf(refused)).toBe('E_RATE_LIMITED');
  expect(await fixture.send('GET', '/v1/account', { token: ann.token })).toMatchObject({ status: 200 });
  expect(await fixture.send('GET', '/mcp', { token: serverToken })).toMatchObject({ status: 200 });
});

test('an account at its limit gets an error, also for many concurrent requests', async () => {
  await using fixture = await openFixture({ quotas: { sandboxes: 3 } });
  const { token } = await fixture.addAccount('ann');
  const make = (index: number) =>
    fixture.send('POST', '/v1/sandboxes', { token, body: { name: `box ${index}`, config: {} } });
  const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => make(index)));
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused).toHaveLength(7);
  for (const answer of refused) {
    // Nothing that a client would try again by itself: waiting does not help.
    expect(answer.status).toBe(409);
    expect(codeOf(answer)).toBe('E_QUOTA');
    expect(answer.headers.get('retry-after')).toBeNull();
  }
  expect(fixture.dump().sandboxes).toHaveLength(3);
});

test('a stopping server refuses new requests, and says so', async () => {
  await using fixture = await openFixture();
  const ann = await fixture.addAccount('ann');
  fixture.stopping.now = true;
  const before = fixture.dump();
  const body = { name: 'late', config: {} };
  const answer = await fixture.send('POST', '/v1/sandboxes', { token: ann.token, body });
  expect(answer.status).toBe(503);
  expect(codeOf(answer)).toBe('E_STOPPING');
  expect(fixture.dump()).toEqual(before);
});
