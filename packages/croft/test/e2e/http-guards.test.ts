import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { type IncomingMessage, type OutgoingHttpHeaders, type RequestOptions, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type ErrorCode, ErrorEnvelope, Health } from '@croft/protocol';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectHttp, eras, makeDirectory, runCroft, startServer } from '../harness.ts';

type Server = Awaited<ReturnType<typeof startServer>>;

const maxBodyBytes = 16 * 1024 * 1024;
const listTools = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
const workspace = makeDirectory({ 'a.txt': 'one\n' });
let server: Server;

beforeAll(async () => {
  server = await startServer(['--workspace', workspace.path, '--allow-host', 'croft.example']);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  workspace[Symbol.dispose]();
});

describe('the token', () => {
  test('is not needed to ask for the health', async () => {
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
    expect(answer.body).not.toContain(server.token);
  });

  test('is taken whatever the case of its scheme', async () => {
    const authorization = `bearer ${server.token}`;
    expect(await send({ path: '/nowhere', headers: { authorization } })).toMatchObject({ status: 404 });
  });

  test('is judged before a body is read', async () => {
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
  )('may say %s', async (host) => {
    expect(await send({ path: '/healthz', headers: { host: withPort(host) } })).toMatchObject({ status: 200 });
  });

  test.each(
    words(`
      evil.example evil.example:PORT localhost.evil.example 127.0.0.1.evil.example:PORT evil-localhost localhost..
      croft.example.evil.example sub.croft.example xcroft.example 2130706433 0x7f.1 localhost,evil.example
    `),
  )('may not say %s', async (host) => {
    const headers = { host: withPort(host) };
    expectError(await send({ path: '/healthz', headers }), 403, 'E_FORBIDDEN');
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

  test('may not be left out', async () => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.end('GET /healthz HTTP/1.0\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.[01] 40[03] /);
  });

  test('may say a name that was allowed in other letters', async () => {
    await using other = await startServer(['--workspace', workspace.path, '--allow-host', 'Croft.Example.']);
    const answer = await send({ path: '/healthz', headers: { host: 'croft.example' } }, other);
    expect(answer.status).toBe(200);
  });
});

describe('the Origin header', () => {
  test.each(['http://127.0.0.1:PORT', 'https://127.0.0.1:PORT'])('may say %s, where the server is', async (origin) => {
    const headers = { ...signedIn(), origin: withPort(origin) };
    expect(await send({ method: 'POST', path: '/mcp', headers, body: listTools })).toMatchObject({ status: 200 });
  });

  test.each(
    words(`
      http://evil.example null file:// http://127.0.0.1 http://127.0.0.1:1 http://127.0.0.1:PORT.evil.example
      http://127.0.0.1:PORT@evil.example http://localhost:PORT http://croft.example:PORT chrome-extension://abcdef *
    `),
  )('may not say %s', async (origin) => {
    const headers = { ...signedIn(), origin: withPort(origin) };
    for (const path of ['/mcp', '/healthz']) {
      const answer = await send({ method: 'POST', path, headers, body: listTools });
      expectError(answer, 403, 'E_FORBIDDEN');
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    }
  });

  test('of another site gets no leave by a preflight', async () => {
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

  test('that says it is over the cap is refused before it is sent', async () => {
    const upload = startUpload({ ...signedIn(), 'content-length': maxBodyBytes + 1 });
    upload.flushHeaders();
    expectError(await toAnswer(upload), 413, 'E_TOO_LARGE');
    upload.destroy();
    await expectAlive();
  });

  test('over the cap that does not say its size is refused while it is sent', async () => {
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

  // Whoever looks at the answer only after the last byte, on a connection that nobody keeps, must find it there.
  test.each([
    [413, 'for its size', maxBodyBytes + 8 * 1024 * 1024, {}],
    [401, 'for its token', 8 * 1024 * 1024, { authorization: 'Bearer of-somebody-else-altogether' }],
  ])('is answered %i %s though it is sent to its end first', async (status, _, size, more) => {
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

  test('cut off in the middle leaves the server alive', async () => {
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

describe('a start', () => {
  test('without CROFT_TOKEN makes a token for its owner alone and takes it again at the next start', async () => {
    using data = makeDirectory();
    const tokens: string[] = [];
    for (const _ of ['first', 'second']) {
      await using started = await startWithTokenFile(data.path);
      const file = data.at('token');
      expect(await started.output.find(/token: (.+)/)).toBe(file);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const token = readFileSync(file, 'utf8').trim();
      expect(await statusOf(started, token)).toBe(200);
      expect(await statusOf(started, `${token.slice(0, -1)}!`)).toBe(401);
      tokens.push(token);
    }
    expect(tokens[0]).toMatch(/^\S{32,}$/);
    expect(tokens[1]).toBe(tokens[0]);
  });

  test('in two places makes two different tokens', async () => {
    using one = makeDirectory();
    using two = makeDirectory();
    await using _one = await startWithTokenFile(one.path);
    await using _two = await startWithTokenFile(two.path);
    expect(readFileSync(one.at('token'), 'utf8')).not.toBe(readFileSync(two.at('token'), 'utf8'));
  });

  test('closes a token file that others may read', async () => {
    using data = makeDirectory({ token: 'a-token-that-was-left-open\n' });
    await using started = await startWithTokenFile(data.path);
    expect(statSync(data.at('token')).mode & 0o777).toBe(0o600);
    expect(await statusOf(started, 'a-token-that-was-left-open')).toBe(200);
  });

  test('with CROFT_TOKEN takes it over the file, makes no file and prints it nowhere', async () => {
    expect(existsSync(`${server.data}/token`)).toBe(false);
    using data = makeDirectory({ token: 'the-token-of-the-file\n' });
    await using started = await startServer(['--workspace', workspace.path, '--data', data.path]);
    const configuration = await readConfiguration(started);
    expect(started.output.stdout() + started.output.stderr()).not.toContain(started.token);
    expect(await statusOf(started, 'the-token-of-the-file')).toBe(401);
    expect(await statusOf(started, started.token)).toBe(200);
    expect(configuration.headers).toEqual({ Authorization: `Bearer \${CROFT_TOKEN}` });
  });

  test('with a token file that holds no token is refused', async () => {
    using data = makeDirectory({ token: '\n' });
    const run = await runCroft(['serve', '--port', '0', '--data', data.path, '--workspace', workspace.path]);
    expect(run).toMatchObject({ exitCode: 1, stdout: '' });
    expect(run.stderr).toContain(data.at('token'));
  });

  test('listens on the loopback address and no other', () => {
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    expect(addressesListening(Number(new URL(server.url).port))).toEqual(['0100007F']);
  });

  test.each(eras)('prints a configuration that a client of %s connects with as it is', async (era) => {
    using data = makeDirectory();
    await using started = await startWithTokenFile(data.path);
    const { type, url, headers } = await readConfiguration(started);
    expect(type).toBe('http');
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
    const pinned = { versionNegotiation: { mode: { pin: '2026-07-28' } } };
    const client = new Client({ name: 'pasted', version: '1.0.0' }, era === '2026' ? pinned : {});
    await client.connect(transport);
    const result = await client.callTool({ name: 'read', arguments: { file_path: 'a.txt' } });
    expect(result.structuredContent).toMatchObject({ content: 'one\n' });
    await client.close();
  });
});

test('a client without the token cannot connect', async () => {
  for (const era of eras) {
    await expect(connectHttp({ url: server.url, token: 'of-somebody-else-altogether' }, { era })).rejects.toThrow();
  }
});

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly json: unknown;
}

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
}

const mcp = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

function signedIn() {
  return { ...mcp, authorization: `Bearer ${server.token}` };
}

/** One request on a connection of its own, its path and headers sent exactly as written. */
function send({ method = 'GET', path, headers = {}, body }: Sent, to: Pick<Server, 'url'> = server): Promise<Answer> {
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  const outgoing = request(toOptions(to, { method, path, headers: { ...headers, ...length } }));
  const answer = toAnswer(outgoing);
  outgoing.end(body);
  return answer;
}

function startUpload(headers: OutgoingHttpHeaders) {
  return request(toOptions(server, { method: 'POST', path: '/mcp', headers }));
}

function toOptions({ url }: Pick<Server, 'url'>, rest: RequestOptions): RequestOptions {
  const { hostname, port } = new URL(url);
  return { hostname, port, agent: false, ...rest };
}

async function toAnswer(outgoing: ReturnType<typeof request>): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // After the answer a refused upload may still break; nobody waits for it any more.
  outgoing.on('response', resolve).on('error', reject);
  const response = await promise;
  const body = await text(response);
  return { status: response.statusCode ?? 0, headers: response.headers, body, json: toJson(body) };
}

function toJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
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

function startWithTokenFile(data: string): Promise<Server> {
  // `undefined` takes the variable of the harness away again.
  const env = { CROFT_TOKEN: undefined as unknown as string };
  return startServer(['--workspace', workspace.path, '--data', data], { env });
}

async function statusOf(to: Server, token: string): Promise<number> {
  const headers = { ...mcp, authorization: `Bearer ${token}` };
  return (await send({ method: 'POST', path: '/mcp', headers, body: listTools }, to)).status;
}

async function readConfiguration({ output }: Server) {
  await output.find(/^\}$/m);
  const printed = output.stdout();
  const { mcpServers } = JSON.parse(printed.slice(printed.indexOf('{\n'), printed.lastIndexOf('}') + 1));
  return mcpServers.croft as { type: string; url: string; headers: Record<string, string> };
}

/** Local addresses with a listening socket on this port, as the kernel writes them. */
function addressesListening(port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return ['/proc/net/tcp', '/proc/net/tcp6']
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([, local = '', , state]) =>
      state === '0A' && local.endsWith(suffix) ? [local.split(':')[0] ?? ''] : [],
    );
}
