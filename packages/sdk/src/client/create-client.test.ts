import { expect, test } from 'vitest';
import { startServer } from '../../../croft/test/support/harness.ts';
import { createClient } from './create-client.ts';

test('reads the health of a real server', async () => {
  await using server = await startServer(['--demo']);
  const client = createClient({ baseUrl: server.url, token: server.token });
  expect(await client.health()).toMatchObject({ status: 'ok' });
});

test('throws a refusal of the server as the same error', async () => {
  await using server = await startServer(['--demo']);
  const foreign: typeof fetch = (input, init) => fetch(input, { ...init, headers: { origin: 'https://evil.example' } });
  await expect(createClient({ baseUrl: server.url, fetch: foreign }).health()).rejects.toMatchObject({
    code: 'E_FORBIDDEN',
  });
});

test('reports an answer that is not from a Croft server', async () => {
  const page: typeof fetch = async () => new Response('<h1>Bad gateway</h1>', { status: 502 });
  await expect(createClient({ baseUrl: 'http://127.0.0.1:1', fetch: page }).health()).rejects.toMatchObject({
    code: 'E_INTERNAL',
    message: 'the server answered 502 without a reason',
  });
});
