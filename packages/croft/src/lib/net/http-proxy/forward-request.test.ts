import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import * as http from 'node:http';
import { describe, expect, test } from 'vitest';
import {
  eventually,
  get,
  openProxy,
  startRaw,
  startWeb,
  type TestProxy,
} from '../../../../test/support/servers/test-proxy.ts';

const names = { 'good.test': ['127.0.0.1'], 'other.test': ['127.0.0.1'] };
const open = (port: number, more = {}) =>
  openProxy({ domains: [`good.test:${port}`], cidrs: [`127.0.0.0/8:${port}`], names, ...more });
const bodyOf = (answer: string) => answer.slice(answer.indexOf('\r\n\r\n') + 4);

/** Sends a request with Node's HTTP client, as programs do. */
function ask(proxy: TestProxy, url: string, options: http.RequestOptions = {}) {
  const { host } = new URL(url);
  return http.request({
    ...options,
    socketPath: proxy.socketPath,
    path: url,
    agent: false,
    headers: { host, ...options.headers },
  });
}
async function finish(request: http.ClientRequest) {
  const [reply] = (await once(request, 'response')) as [http.IncomingMessage];
  return { status: reply.statusCode, headers: reply.rawHeaders, body: Buffer.concat(await reply.toArray()) };
}

describe('carries', () => {
  test('a request and its answer, without the headers of one hop', async () => {
    let seen: http.IncomingMessage | undefined;
    await using web = await startWeb((request, response) => {
      seen = request;
      response.writeHead(418, 'Short and stout', [
        'Set-Cookie',
        'a=1',
        'Set-Cookie',
        'b=2',
        'Keep-Alive',
        'timeout=9',
        'X-A',
        'é',
      ]);
      response.end('tea');
    });
    await using proxy = await open(web.port);
    const sent = ['Proxy-Authorization: Basic c2VjcmV0', 'Proxy-Connection: keep-alive', 'TE: trailers', 'X-Mine: 1'];
    const answer = await proxy.exchange(get(`http://good.test:${web.port}/a%2f../b?c=%00`, sent));
    expect(seen?.url).toBe('/a%2f../b?c=%00');
    expect(seen?.rawHeaders).toEqual(['Host', `good.test:${web.port}`, 'X-Mine', '1', 'Connection', 'close']);
    expect(answer).toMatch(/^HTTP\/1\.1 418 Short and stout\r\n/);
    expect(answer).toContain('Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n');
    expect(answer).not.toContain('timeout=9');
    expect(bodyOf(answer)).toContain('tea');
    expect(proxy.denials).toEqual([]);
  });

  test('bodies of any framing in both directions, byte for byte', async () => {
    await using web = await startWeb((request, response) => request.pipe(response));
    await using proxy = await open(web.port);
    const url = `http://good.test:${web.port}/`;
    const body = randomBytes(20 * 1024 * 1024);
    const digest = createHash('sha256').update(body).digest('hex');
    for (const headers of [{}, { 'content-length': body.length }]) {
      const request = ask(proxy, url, { method: 'POST', headers });
      request.end(body);
      const { body: echo } = await finish(request);
      expect(createHash('sha256').update(echo).digest('hex')).toBe(digest);
    }
  });

  test.each(['POST', 'PUT', 'DELETE', 'PROPFIND'])('%s without a body with a length of zero', async (method) => {
    await using web = await startWeb((request, response) => response.end(JSON.stringify(request.headers)));
    await using proxy = await open(web.port);
    const url = `http://good.test:${web.port}/`;
    const answer = await proxy.exchange(
      `${method} ${url} HTTP/1.1\r\nHost: good.test:${web.port}\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toContain('"content-length":"0"');
    expect(answer).not.toContain('chunked"');
  });

  test('HEAD and answers without a body', async () => {
    await using web = await startWeb((request, response) => {
      response.writeHead(
        request.method === 'HEAD' ? 200 : 204,
        request.method === 'HEAD' ? { 'content-length': 1000 } : {},
      );
      response.end();
    });
    await using proxy = await open(web.port);
    const head = ask(proxy, `http://good.test:${web.port}/`, { method: 'HEAD' }).end();
    expect(await finish(head)).toMatchObject({
      status: 200,
      body: Buffer.alloc(0),
      headers: expect.arrayContaining(['1000']),
    });
    expect(await finish(ask(proxy, `http://good.test:${web.port}/`).end())).toMatchObject({ status: 204 });
  });

  test('a body that waits for 100 Continue, which a refused host never sends', async () => {
    await using web = await startWeb((request, response) => request.pipe(response));
    await using proxy = await open(web.port);
    const headers = { expect: '100-continue', 'content-length': 4 };
    const allowed = ask(proxy, `http://good.test:${web.port}/`, { method: 'PUT', headers });
    allowed.once('continue', () => allowed.end('body'));
    allowed.flushHeaders();
    expect((await finish(allowed)).body.toString()).toBe('body');
    const denied = ask(proxy, 'http://evil.test/', { method: 'PUT', headers });
    let isContinued = false;
    denied.once('continue', () => (isContinued = true));
    denied.flushHeaders();
    expect((await finish(denied)).status).toBe(403);
    expect(isContinued).toBe(false);
    denied.destroy();
  });

  test('no upgrade: such a request gets a plain answer', async () => {
    await using web = await startWeb((request, response) => response.end(`upgrade: ${request.headers.upgrade}`));
    await using proxy = await open(web.port);
    const answer = await proxy.exchange(
      `GET http://good.test:${web.port}/ HTTP/1.1\r\nHost: good.test:${web.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n` +
        get(`http://good.test:${web.port}/`),
    );
    expect(answer).toMatch(/Connection: close[\s\S]*upgrade: undefined/);
    expect(answer.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
  });

  test('an answer that breaks off, as an incomplete one', async () => {
    await using web = await startRaw((socket) => {
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this');
    });
    await using proxy = await open(web.port);
    const request = ask(proxy, `http://good.test:${web.port}/`).end();
    const [reply] = (await once(request, 'response')) as [http.IncomingMessage];
    await expect(reply.toArray()).rejects.toThrow('aborted');
  });
});

describe('refuses', () => {
  test('a host that is not allowed, with a denial for the program and for us, and without a lookup', async () => {
    await using web = await startWeb((_, response) => response.end());
    await using proxy = await open(web.port);
    const answer = await proxy.exchange(get('http://c2VjcmV0.evil.test/'));
    const reason = "c2vjcmv0.evil.test is not an allowed domain. Ask the operator to add it to the sandbox's domains.";
    expect(answer).toMatch(
      /^HTTP\/1\.1 403 Blocked by network policy \(domains\): c2vjcmv0\.evil\.test is not an allowed/,
    );
    expect(bodyOf(answer)).toBe(`Blocked by the network policy of this sandbox (rule: domains).\n${reason}\n`);
    expect(proxy.denials).toEqual([{ host: 'c2vjcmv0.evil.test', port: 80, rule: 'domains', reason }]);
    expect([proxy.lookups, proxy.dials]).toEqual([[], []]);
  });

  test('every host, if the policy is empty', async () => {
    await using proxy = await openProxy({ names });
    for (const url of [
      'http://good.test/',
      'http://127.0.0.1/',
      'http://[::1]/',
      'http://localhost/',
      'http://1.1.1.1/dns-query',
    ]) {
      expect(await proxy.exchange(get(url))).toMatch(/^HTTP\/1\.1 403 /);
    }
    expect([proxy.lookups, proxy.dials]).toEqual([[], []]);
  });

  test.each([
    ['loopback', ['127.0.0.1']],
    ['metadata', ['169.254.169.254']],
    ['this machine', ['198.41.0.4']],
    ['a private address behind a public one', ['93.184.216.34', '10.0.0.1']],
    ['IPv4 in IPv6', ['::ffff:127.0.0.1']],
    ['NAT64', ['64:ff9b::7f00:1']],
  ])('an allowed name that leads to %s', async (_, addresses) => {
    await using proxy = await openProxy({ domains: ['good.test'], names: { 'good.test': addresses } });
    const answer = await proxy.exchange(get('http://good.test/'));
    expect(answer).toMatch(/^HTTP\/1\.1 403 .*good\.test leads to /);
    expect(proxy.denials).toMatchObject([{ host: 'good.test', rule: 'address' }]);
    expect(proxy.dials).toEqual([]);
  });

  test('a second lookup: a name is resolved once, and that address is dialled', async () => {
    await using web = await startWeb((_, response) => response.end('first'));
    const answers = [['127.0.0.2'], ['127.0.0.9']];
    const dial = (_address: string, port: number) => http.globalAgent.createConnection({ host: '127.0.0.1', port });
    await using proxy = await openProxy({
      ...{ domains: [`good.test:${web.port}`], cidrs: [`127.0.0.2/32:${web.port}`] },
      ...{ resolve: async () => answers.shift() ?? [], dial: dial as never },
    });
    expect(await proxy.exchange(get(`http://good.test:${web.port}/`))).toContain('first');
    expect(await proxy.exchange(get(`http://good.test:${web.port}/`))).toMatch(/^HTTP\/1\.1 403 /);
    expect(proxy.lookups).toEqual(['good.test', 'good.test']);
    expect(proxy.dials).toEqual([`127.0.0.2 ${web.port}`]);
  });

  test('the target of a redirect, on the same connection as before', async () => {
    await using web = await startWeb((_, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end();
    });
    await using proxy = await open(web.port);
    const first = `GET http://good.test:${web.port}/ HTTP/1.1\r\nHost: good.test:${web.port}\r\n\r\n`;
    const answer = await proxy.exchange(first + get('http://169.254.169.254/latest/meta-data/'));
    expect(answer).toMatch(/^HTTP\/1\.1 302 [\s\S]*HTTP\/1\.1 403 /);
    expect(proxy.denials).toMatchObject([{ host: '169.254.169.254', rule: 'cidrs' }]);
  });

  test.each([
    ['another host', ['Host: other.test:PORT']],
    ['another port', ['Host: good.test:1']],
    ['no port', ['Host: good.test']],
    ['two of them', ['Host: good.test:PORT', 'Host: other.test']],
    ['two equal ones', ['Host: good.test:PORT', 'host: good.test:PORT']],
    ['a list', ['Host: good.test:PORT, other.test']],
    ['a user', ['Host: x@good.test:PORT']],
    ['none', []],
    ['an empty one', ['Host:']],
  ])('a Host header with %s', async (_, headers) => {
    await using web = await startWeb((_request, response) => response.end());
    await using proxy = await open(web.port);
    const lines = headers.map((line) => line.replaceAll('PORT', String(web.port)));
    const answer = await proxy.exchange(
      [`GET http://good.test:${web.port}/ HTTP/1.1`, ...lines, 'Connection: close', '', ''].join('\r\n'),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect([web.seen.connections, proxy.dials]).toEqual([0, []]);
  });

  test('nothing of HTTP/1.0 without a Host header, which it adds for the server', async () => {
    await using web = await startWeb((request, response) => response.end(request.headers.host));
    await using proxy = await open(web.port);
    expect(bodyOf(await proxy.exchange(`GET http://good.test:${web.port}/ HTTP/1.0\r\n\r\n`))).toBe(
      `good.test:${web.port}`,
    );
  });

  test.each([
    ['two lengths', ['Content-Length: 3', 'Content-Length: 30']],
    ['a length and chunks', ['Content-Length: 3', 'Transfer-Encoding: chunked']],
    ['chunks and a length', ['Transfer-Encoding: chunked', 'Content-Length: 3']],
    ['an unknown encoding', ['Transfer-Encoding: xchunked']],
    ['chunks that are not last', ['Transfer-Encoding: chunked, identity']],
    ['two encodings', ['Transfer-Encoding: gzip, chunked']],
    ['chunks twice', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked']],
    ['a length that is no number', ['Content-Length: 3, 3']],
    ['a signed length', ['Content-Length: +3']],
    ['a space before the colon', ['Content-Length : 3']],
    ['a folded header', ['X-A: b', ' Content-Length: 3']],
    ['a header without a name', [': x']],
    ['a NUL', ['X-A: \0']],
    ['a bare return', ['X-A: b\rContent-Length: 3']],
  ])('a request with %s', async (_, headers) => {
    await using web = await startWeb((_request, response) => response.end());
    await using proxy = await open(web.port);
    const smuggled = get('http://evil.test/');
    const head = [`POST http://good.test:${web.port}/ HTTP/1.1`, `Host: good.test:${web.port}`, ...headers, '', ''];
    const answer = await proxy.exchange(`${head.join('\r\n')}0\r\n\r\n${smuggled}`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 Blocked by network policy \(request-form\): /);
    expect(answer.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
    expect(proxy.denials[0]).toMatchObject({ rule: 'request-form' });
    expect(web.seen.connections).toBe(0);
  });

  test.each([
    ['a path alone', 'GET / HTTP/1.1', 'send the whole URL'],
    ['https', 'GET https://good.test/ HTTP/1.1', 'takes http:// requests'],
    ['ftp', 'GET ftp://good.test/ HTTP/1.1', 'nothing else'],
    ['a user and password', 'GET http://u:p@good.test/ HTTP/1.1', 'without user and password'],
    ['an address in disguise', 'GET http://2130706433/ HTTP/1.1', 'send the whole URL'],
    ['HTTP/2', 'PRI * HTTP/2.0', 'not an HTTP/1.1 request'],
    ['SOCKS', '\x05\x01\0', 'not an HTTP/1.1 request'],
    ['TLS', '\x16\x03\x01\x02\0\x01\0\x01\xfc', 'not an HTTP/1.1 request'],
  ])('%s, with advice on what to send', async (_, line, words) => {
    await using proxy = await openProxy({ domains: ['good.test'], names });
    const answer = await proxy.exchange(`${line}\r\nHost: good.test\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain(words);
    expect(proxy.dials).toEqual([]);
  });
});

test('a program that disconnects ends its connection to the server too', async () => {
  await using web = await startWeb(() => {});
  await using proxy = await open(web.port);
  const socket = proxy.connect();
  socket.write(get(`http://good.test:${web.port}/`));
  await eventually(() => web.seen.connections === 1);
  socket.destroy();
  await eventually(() => [...web.sockets].every((one) => one.destroyed));
});
