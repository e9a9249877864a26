import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createObjectStore } from '../../src/storages/s3/client/object-store.ts';
import { sendable } from '../contracts/object-store.ts';

/** Status that a service answers to a put with these headers over an object with this ETag. */
type Service = (headers: IncomingHttpHeaders, etag: string | undefined) => number;

/** Puts and deletes alone, and no signature is looked at: only what services do with conditions. */
async function openOn(service: Service) {
  const objects = new Map<string, string>();
  const server = createServer(async (request, response) => {
    const [key, before] = [request.url ?? '', objects.get(request.url ?? '')];
    for await (const _ of request);
    if (request.method === 'DELETE') objects.delete(key);
    const status = request.method === 'PUT' ? service(request.headers, before) : 204;
    const etag = randomUUID().replaceAll('-', '');
    if (status === 200) objects.set(key, etag);
    response.writeHead(status, status === 200 ? { etag: `"${etag}"` } : {}).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const settings = { endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1', bucket: 'bucket', prefix: '' };
  const credentials = { accessKeyId: 'AK', secretAccessKey: 'SK' };
  const retries = { attempts: 2, firstPauseMs: 1 };
  const store = createObjectStore({ ...settings, credentials, retries, allowPrivate: true });
  onTestFinished(() => {
    store.close();
    server.close();
  });
  return { store, objects };
}

const honest = (toHeader: (etag: string) => string[]): Service => {
  return ({ 'if-match': match, 'if-none-match': none }, etag) => {
    if (none !== undefined && etag !== undefined) return 412;
    return match === undefined || (etag !== undefined && toHeader(etag).includes(match)) ? 200 : 412;
  };
};

test.each<[string, Service, string]>([
  ['ignores all of them', () => 200, 'it ignores If-None-Match on puts'],
  [
    'refuses all of them',
    ({ 'if-none-match': none }) => (none ? 501 : 200),
    'it refuses puts with If-None-Match (status 501)',
  ],
  ['ignores If-Match', ({ 'if-none-match': none }) => (none ? 412 : 200), 'it ignores If-Match on puts'],
  [
    'refuses If-Match',
    ({ 'if-none-match': none, 'if-match': match }) => (none ? 412 : match ? 501 : 200),
    'it refuses puts with If-Match (status 501)',
  ],
  [
    'never finds a match',
    ({ 'if-none-match': none, 'if-match': match }) => (none || match ? 412 : 200),
    'it refuses puts with If-Match even when what is there matches',
  ],
])('a service that %s cannot be shared by several writers', async (_, service, reason) => {
  const { store, objects } = await openOn(service);
  expect(await store.probe()).toEqual({ isConditional: false, reason });
  expect(objects.size).toBe(0);
});

test.each<[string, (etag: string) => string[]]>([
  ['quoted', (etag) => [`"${etag}"`]],
  ['bare', (etag) => [etag]],
  ['either way', (etag) => [etag, `"${etag}"`]],
])('an ETag is sent in the form that the service accepts: %s', async (_, toHeader) => {
  const { store } = await openOn(honest(toHeader));
  expect(await store.probe()).toEqual({ isConditional: true });
  const first = (await store.put('k', sendable('a'), { expect: 'absent' })) as { etag: string };
  expect(await store.put('k', sendable('b'), { expect: first })).toMatchObject({ etag: expect.any(String) });
  expect(await store.put('k', sendable('c'), { expect: first })).toBe('refused');
});

test('the form is found by the first put that needs it, and once', async () => {
  let puts = 0;
  const service = honest((etag) => [`"${etag}"`]);
  const { store } = await openOn((...args) => {
    puts += 1;
    return service(...args);
  });
  const first = (await store.put('k', sendable('a'))) as { etag: string };
  const second = (await store.put('k', sendable('b'), { expect: first })) as { etag: string };
  const before = puts;
  expect(await store.put('k', sendable('c'), { expect: second })).toMatchObject({ etag: expect.any(String) });
  await store.probe();
  expect(puts).toBe(before + 1);
});

test('a service that refuses writes is not reported as one without conditions', async () => {
  const { store } = await openOn(() => 403);
  await expect(store.probe()).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
});
