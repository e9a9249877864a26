import { once } from 'node:events';
import { type OutgoingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type ErrorCode, ErrorEnvelope, Health } from '@croft/protocol';
import { describe, expect, test } from 'vitest';
import { connectHttp, eras, startServer } from '../support/harness.ts';
import { type Answer, listTools, mcp, send, server, toAnswer, toOptions, workspace } from './http-guards-fixture.ts';

const maxBodyBytes = 16 * 1024 * 1024;

describe('the token', () => {
  test('is not needed for the health check', async () => {
    const answer = await send({ path: '/healthz' });
    expect(answer.status).toBe(200);
    expect(Health.parse(answer.json)).toMatchObject({ status: 'ok' });
  });

  test.each(
    words(`
      /mcp /mcp/ //healthz /HEALTHZ /healthz/ /healthz/../mcp /healthz%2f..%2fmcp /healthz;/mcp
      /mcp?token=test-token-of-sufficient-length /v1/workspaces
    `),
  )('is needed to GET %s', async (path) => {
    expectError(await send({ path }), 401, 'E_UNAUTHORIZED');
  });

  test.each(words('POST PUT PATCH DELETE OPTIONS'))('is needed to %s anything', async (method) => {
    for (const path of ['/mcp', '/healthz']) expectError(await send({ method, path }), 401, 'E_UNAUTHORIZED');
  });

  test.each([
    ['of another value', 'Bearer another-token-of-some-length'],
    ['that is a prefix', 'Bearer test-token-of-sufficient'],
    ['with more behind it', 'Bearer test-token-of-sufficient-length-and-more'],
    ['in another case', 'Bearer TEST-TOKEN-OF-SUFFICIENT-LENGTH'],
    ['without a scheme', 'test-token-of-sufficient-length'],
    ['under another scheme', `Basic ${Buffer.from('croft:test-token-of-sufficient-length').toString('base64')}`],
    ['given twice', 'Bearer test-token-of-sufficient-length, Bearer test-token-of-sufficient-length'],
    ['of no characters', 'Bearer '],
  ])('%s is refused', async (_, authorization) => {
    const answer = await send({ method: 'POST', path: '/mcp', headers: { ...mcp, authorization }, body: listTools });
    expectError(answer, 401, 'E_UNAUTHORIZED');
    expect(answer.json).toMatchObject({ error: { hint: 'Send Authorization: Bearer with the server’s token.' } });
    expect(answer.body).not.toContain(server.token);
  });

  test('is accepted in any case of its scheme', async () => {
    const authorization = `bearer ${server.token}`;
    expect(await send({ path: '/nowhere', headers: { authorization } })).toMatchObject({ status: 404 });
  });

  test('is checked before a body is read', async () => {
    const upload = startUpload({ ...mcp, 'content-length': maxBodyBytes });
    upload.flushHeaders();
    expectError(await toAnswer(upload), 401, 'E_UNAUTHORIZED');
    upload.destroy();
  });
});

describe('the Host header', () => {
  test.each(
    words(`
      127.0.0.1 127.0.0.1:PORT 127.0.0.1:1 10.11.12.13:7070 [::1] [::1]:PORT localhost localhost:PORT localhost.
      localhost.:PORT LocalHost croft.example croft.example:PORT croft.example. CROFT.Example.:443
    `),
  )('may be %s', async (host) => {
    expect(await send({ path: '/healthz', headers: { host: withPort(host) } })).toMatchObject({ status: 200 });
  });

  test.each(
    words(`
      evil.example evil.example:PORT localhost.evil.example 127.0.0.1.evil.example:PORT evil-localhost localhost..
      croft.example.evil.example sub.croft.example xcroft.example 2130706433 0x7f.1 localhost,evil.example
    `),
  )('may not be %s', async (host) => {
    const headers = { host: withPort(host) };
    const asked = await send({ path: '/healthz', headers });
    expectError(asked, 403, 'E_FORBIDDEN');
    expect(asked.json).toMatchObject({ error: { hint: expect.stringContaining('--allow-host') } });
    const answer = await send({
      method: 'POST',
      path: '/mcp',
      headers: { ...signedIn(), ...headers },
      body: listTools,
    });
    expectError(answer, 403, 'E_FORBIDDEN');
  });

  test.each(['localhost:PORT@evil.example', 'localhost:evil', '[::1', '[evil.example]', '::1', ' ', 'localhost/evil'])(
    'may not be malformed as %j',
    async (host) => {
      const headers = { ...signedIn(), host: withPort(host) };
      const answer = await send({ method: 'POST', path: '/mcp', headers, body: listTools });
      expect([400, 403]).toContain(answer.status);
    },
  );

  test('may not be missing', async () => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.end('GET /healthz HTTP/1.0\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.[01] 40[03] /);
  });

  test('may be an allowed name in another case', async () => {
    await using other = await startServer(['--workspace', workspace.path, '--allow-host', 'Croft.Example.']);
    const answer = await send({ path: '/healthz', headers: { host: 'croft.example' } }, other);
    expect(answer.status).toBe(200);
  });
});

describe('the Origin header', () => {
  test.each(['http://127.0.0.1:PORT', 'https://127.0.0.1:PORT'])(
    'may be %s, the address of the server',
    async (origin) => {
      const headers = { ...signedIn(), origin: withPort(origin) };
      expect(await send({ method: 'POST', path: '/mcp', headers, body: listTools })).toMatchObject({ status: 200 });
    },
  );

  test.each(
    words(`
      http://evil.example null file:// http://127.0.0.1 http://127.0.0.1:1 http://127.0.0.1:PORT.evil.example
      http://127.0.0.1:PORT@evil.example http://localhost:PORT http://croft.example:PORT chrome-extension://abcdef *
    `),
  )('may not be %s', async (origin) => {
    const headers = { ...signedIn(), origin: withPort(origin) };
    for (const path of ['/mcp', '/healthz']) {
      const answer = await send({ method: 'POST', path, headers, body: listTools });
      expectError(answer, 403, 'E_FORBIDDEN');
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    }
  });

  test('of another site gets no permission from a preflight request', async () => {
    const headers = { origin: 'http://evil.example', 'access-control-request-method': 'POST' };
    const answer = await send({ method: 'OPTIONS', path: '/mcp', headers });
    expectError(answer, 403, 'E_FORBIDDEN');
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('a body', () => {
  test('as large as the cap is read', async () => {
    const body = listTools.padEnd(maxBodyBytes, ' ');
    expect(await send({ method: 'POST', path: '/mcp', headers: signedIn(), body })).toMatchObject({ status: 200 });
  });

  test('with a length over the cap is refused before it is sent', async () => {
    const upload = startUpload({ ...signedIn(), 'content-length': maxBodyBytes + 1 });
    upload.flushHeaders();
    expectError(await toAnswer(upload), 413, 'E_TOO_LARGE');
    upload.destroy();
    await expectAlive();
  });

  test('over the cap without a length is refused while it is sent', async () => {
    const upload = startUpload({ ...signedIn(), 'transfer-encoding': 'chunked' });
    let isAnswered = false;
    const answered = toAnswer(upload).finally(() => {
      isAnswered = true;
    });
    const piece = Buffer.alloc(1024 * 1024, ' ');
    for (let sent = 0; !isAnswered && sent < 4 * maxBodyBytes; sent += piece.length) {
      if (!upload.write(piece)) await Promise.race([once(upload, 'drain'), answered]);
    }
    expectError(await answered, 413, 'E_TOO_LARGE');
    upload.destroy();
    await expectAlive();
  });

  // A client that reads the answer only after it has sent everything, without keep-alive, must still get it.
  test.each([
    [413, 'for its size', maxBodyBytes + 8 * 1024 * 1024, {}],
    [401, 'for its token', 8 * 1024 * 1024, { authorization: 'Bearer of-somebody-else-altogether' }],
  ])('is answered %i %s although it was sent completely', async (status, _, size, more) => {
    const { host, port } = new URL(server.url);
    const socket = connect(Number(port), '127.0.0.1').setEncoding('utf8').pause();
    const headers = { ...signedIn(), ...more, host, connection: 'close', 'transfer-encoding': 'chunked' };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${size.toString(16)}\r\n`);
    await new Promise<void>((sent, fail) => {
      socket.on('error', fail).write(Buffer.alloc(size, ' '), (error) => (error ? fail(error) : sent()));
    });
    const [answer] = await once(socket.resume(), 'data');
    socket.destroy();
    expect(answer).toContain(`HTTP/1.1 ${status} `);
  });

  test.each([
    ['nothing', ''],
    ['half an object', '{"jsonrpc":'],
    ['no JSON', 'hello'],
    ['null', 'null'],
    ['a number', '7'],
    ['an empty batch', '[]'],
    ['a batch of numbers', '[1,2]'],
    ['an object that is no message', '{"hello":"world"}'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
    ['ten thousand open brackets', '['.repeat(10_000)],
  ])('of %s is answered with a JSON-RPC error in either era', async (_, body) => {
    for (const version of ['2025-06-18', '2026-07-28']) {
      const headers = { ...signedIn(), 'mcp-protocol-version': version };
      const { status, json } = await send({ method: 'POST', path: '/mcp', headers, body });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
      expect(json).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number), message: expect.any(String) } });
    }
    await expectAlive();
  });

  test('that breaks off in the middle leaves the server running', async () => {
    const upload = startUpload({ ...signedIn(), 'content-length': 1000 });
    const broken = expect(toAnswer(upload)).rejects.toThrow();
    await new Promise((sent) => upload.write('{"jsonrpc"', sent));
    upload.destroy();
    await broken;
    await expectAlive();
  });
});

test.each(['/mcp/', '/mcp/x', '/v1/nothing', '/../etc/passwd', '/%00', '/%ff', '/healthz/'])(
  'an unknown path such as %s is answered with the envelope of an error',
  async (path) => {
    expectError(await send({ path, headers: signedIn() }), 404, 'E_NOT_FOUND');
  },
);

test('a client without the token cannot connect', async () => {
  for (const era of eras) {
    await expect(connectHttp({ url: server.url, token: 'of-somebody-else-altogether' }, { era })).rejects.toThrow();
  }
});

function signedIn() {
  return { ...mcp, authorization: `Bearer ${server.token}` };
}

function startUpload(headers: OutgoingHttpHeaders) {
  return request(toOptions(server, { method: 'POST', path: '/mcp', headers }));
}

function expectError({ status, json }: Answer, expected: number, code: ErrorCode): void {
  expect({ status, json }).toMatchObject({ status: expected, json: { error: { code } } });
  ErrorEnvelope.parse(json);
}

async function expectAlive(): Promise<void> {
  const answer = await send({ method: 'POST', path: '/mcp', headers: signedIn(), body: listTools });
  expect(answer.status).toBe(200);
}

function words(table: string): string[] {
  return table.trim().split(/\s+/);
}

function withPort(value: string): string {
  return value.replace('PORT', new URL(server.url).port);
}
