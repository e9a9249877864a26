import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoints } from '../../src/rest/dispatch/match-path.ts';
import { createRestServer } from '../../src/rest/server.ts';
import { adminToken, openFixture, type RestFixture, serverToken } from './fixture.ts';

let fixture: RestFixture;
let token: string;

beforeAll(async () => {
  fixture = await openFixture();
  ({ token } = await fixture.addAccount('ann'));
});

afterAll(() => fixture[Symbol.asyncDispose]());

test.each(['/', '/healthz', '/openapi.json'])(
  '%s is open to everybody who uses the name of the server',
  async (path) => {
    expect(await fixture.send('GET', path)).toMatchObject({ status: 200 });
    expect(await fixture.send('POST', path)).toMatchObject({ status: 401 });
    expect(await fixture.send('GET', path, { headers: { origin: 'https://evil.example' } })).toMatchObject({
      status: 403,
    });
    expect(await statusBehind('evil.example', path)).toBe(403);
  },
);

test('the root says that the server runs', async () => {
  expect((await fixture.send('GET', '/')).json).toEqual({ status: 'ok' });
});

describe('a page of another site', () => {
  test.each([
    ['POST', '/v1/sandboxes'],
    ['DELETE', '/v1/account'],
    ['POST', '/accounts'],
    ['OPTIONS', '/v1/sandboxes'],
  ])('cannot %s %s, even with a key', async (method, path) => {
    const before = fixture.dump();
    for (const as of [token, adminToken]) {
      const answer = await fixture.send(method, path, {
        token: as,
        body: { name: 'x', username: 'x', config: {} },
        headers: { origin: 'https://evil.example' },
      });
      expect(answer.status).toBe(403);
      expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
    expect(await statusBehind(`evil.example:${fixture.port}`, path)).toBe(403);
    expect(fixture.dump()).toEqual(before);
  });
});

describe('the token of the server', () => {
  test('opens /mcp, which keys and the admin token do not open', async () => {
    expect(await fixture.send('POST', '/mcp', { token: serverToken })).toMatchObject({
      status: 200,
      json: { mcp: true },
    });
    for (const other of [token, adminToken]) {
      expect(await fixture.send('POST', '/mcp', { token: other })).toMatchObject({ status: 401 });
    }
    expect(await fixture.send('GET', '/mcp/', { token: serverToken })).toMatchObject({ status: 404 });
  });

  test.each(['/v1/account', '/accounts', '/accounts/me'])('does not open %s', async (path) => {
    expect(await fixture.send('GET', path, { token: serverToken })).toMatchObject({ status: 401 });
  });
});

describe('a server without accounts', () => {
  const bare = createRestServer({
    token: serverToken,
    hostNames: [],
    maxBodyBytes: 1000,
    isStopping: () => false,
    mcp: async () => Response.json({ mcp: true }),
    onError: () => {},
  });
  const ask = async (path: string, as?: string) => {
    const headers = { host: 'localhost', ...(as !== undefined && { authorization: `Bearer ${as}` }) };
    return (await bare.request(path, { headers })).status;
  };

  test('has /mcp and /healthz, and nothing else', async () => {
    expect(await ask('/healthz')).toBe(200);
    expect(await ask('/mcp', serverToken)).toBe(200);
    for (const path of ['/', '/openapi.json', '/v1/account', '/accounts', '/accounts/me']) {
      expect(await ask(path)).toBe(401);
      expect(await ask(path, adminToken)).toBe(401);
      expect(await ask(path, serverToken)).toBe(404);
    }
  });
});

test.each(['bearer', 'BEARER', 'Bearer  '])('the scheme %s is accepted', async (scheme) => {
  const headers = { authorization: `${scheme} ${token}` };
  expect(await fixture.send('GET', '/v1/account', { headers })).toMatchObject({ status: 200 });
});

test.each(['Basic TOKEN', 'TOKEN', 'Bearer TOKEN TOKEN', 'Bearer TOKEN, Bearer TOKEN', 'Bearer', 'Bearer "TOKEN"'])(
  'the header %s is refused',
  async (header) => {
    for (const known of [token, adminToken]) {
      const headers = { authorization: header.replaceAll('TOKEN', known) };
      expect(await fixture.send('GET', '/v1/account', { headers })).toMatchObject({ status: 401 });
    }
  },
);

describe('openapi.json of the server', () => {
  test('equals the generated file', async () => {
    const file = readFileSync(join(import.meta.dirname, '../../../../openapi.json'), 'utf8');
    expect((await fixture.send('GET', '/openapi.json')).json).toEqual(JSON.parse(file));
  });

  test('has every route with its input and answers, and no broken reference', async () => {
    const { json, text } = await fixture.send('GET', '/openapi.json');
    expect(json.openapi).toBe('3.1.0');
    const ids = new Set<string>();
    for (const { pattern, routes } of endpoints) {
      for (const route of Object.values(routes)) {
        const operation = json.paths[pattern][route.method.toLowerCase()];
        expect(operation.responses, `${route.method} ${pattern}`).toHaveProperty(String(route.status ?? 200));
        for (const status of [401, 403, 429]) expect(operation.responses).toHaveProperty(String(status));
        expect(operation.requestBody !== undefined).toBe((route.body ?? route.bodyType) !== undefined);
        expect(ids).not.toContain(operation.operationId);
        ids.add(operation.operationId);
      }
    }
    const named = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name);
    expect(Object.keys(json.components.schemas)).toEqual(expect.arrayContaining(named));
  });
});

function statusBehind(host: string, path: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const headers = { host, authorization: `Bearer ${token}` };
  const outgoing = request({ hostname: '127.0.0.1', port: fixture.port, path, headers, agent: false });
  outgoing.on('response', (response) => resolve(response.resume().statusCode ?? 0)).on('error', reject);
  outgoing.end();
  return promise;
}
