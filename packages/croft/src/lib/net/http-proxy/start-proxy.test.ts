import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import {
  eventually,
  get,
  openProxy,
  openTunnel,
  startRaw,
  startWeb,
} from '../../../../test/support/servers/test-proxy.ts';
import { proxyEnvironment } from './proxy-environment.ts';
import { startProxy } from './start-proxy.ts';

const names = { 'good.test': ['127.0.0.1'] };
const open = (port: number, more = {}) =>
  openProxy({ domains: [`good.test:${port}`], cidrs: [`127.0.0.0/8:${port}`], names, ...more });
const never = () => new Promise<never>(() => {});
/** A server that never accepts or refuses a connection. */
const dialNobody = () => new Socket();

describe('an upstream server', () => {
  test.each([
    ['has no address', { resolve: async () => [] }, 502],
    ['is not known to DNS', { resolve: () => Promise.reject(new Error('ENOTFOUND')) }, 502],
    ['leads to what is no address', { resolve: async () => ['localhost'] }, 502],
    ['is never found', { resolve: never }, 504],
    ['never answers', { dial: dialNobody }, 504],
  ])('that %s', async (_, more, status) => {
    await using proxy = await open(80, { limits: { connectTimeoutMs: 200 }, ...more });
    const answer = await proxy.exchange(get('http://good.test/'));
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*good\\.test`));
    expect(await proxy.exchange('CONNECT good.test:80 HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(
      new RegExp(`^HTTP/1\\.1 ${status} `),
    );
    expect(proxy.denials).toEqual([]);
  });

  test('that refuses or hangs up is reported', async () => {
    await using web = await startRaw((socket) => socket.once('data', () => socket.resetAndDestroy()));
    await using proxy = await open(web.port);
    expect(await proxy.exchange(get(`http://good.test:${web.port}/`))).toMatch(/^HTTP\/1\.1 502 .*broke off/);
    await web[Symbol.asyncDispose]();
    expect(await proxy.exchange(get(`http://good.test:${web.port}/`))).toMatch(/^HTTP\/1\.1 502 .*cannot be reached/);
  });

  test('that does not answer at one address is tried at the next', async () => {
    await using web = await startWeb((_, response) => response.end('here'));
    const more = { names: { 'good.test': ['127.0.0.9', '127.0.0.1'] }, limits: { connectTimeoutMs: 30_000 } };
    await using proxy = await open(web.port, more);
    expect(await proxy.exchange(get(`http://good.test:${web.port}/`))).toContain('here');
    expect(proxy.dials).toEqual([`127.0.0.9 ${web.port}`, `127.0.0.1 ${web.port}`]);
  });

  test('that sends nothing is given up after a while', async () => {
    await using web = await startRaw();
    await using proxy = await open(web.port, { limits: { idleTimeoutMs: 200 } });
    await proxy.exchange(get(`http://good.test:${web.port}/`));
    await eventually(() => [...web.sockets].every((one) => one.destroyed));
  });
});

describe('the process survives', () => {
  test('a program that leaves during the lookup of its host', async () => {
    const { promise, resolve } = Promise.withResolvers<string[]>();
    await using proxy = await open(80, { resolve: () => promise });
    const socket = proxy.connect().on('error', () => {});
    socket.write('GET http://good.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n'.repeat(2));
    const tunnel = proxy.connect().on('error', () => {});
    tunnel.write('CONNECT good.test:80 HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => proxy.lookups.length === 3);
    socket.destroy();
    tunnel.destroy();
    await new Promise((settle) => setTimeout(settle, 50));
    resolve([]);
    expect(await proxy.exchange(get('http://evil.test/'))).toMatch(/^HTTP\/1\.1 403 /);
  });

  test('an answer of any bytes', async () => {
    const line = fc.constantFrom(
      'HTTP/1.1 200 OK',
      'HTTP/1.1 000 x',
      'HTTP/1.1 999 \x01\x7f',
      'HTTP/1.1 101 x',
      'HTTP/1.1 100 x',
      'HTTP/1.0 204',
      'HTTP/1.1 200 \xff',
      'HTTP/2 200',
      '',
    );
    const header = fc.constantFrom(
      'A: \x01',
      'A: \x7f',
      'A: \xff',
      'Content-Length: 3',
      'Content-Length: -1',
      'Transfer-Encoding: chunked',
      'Connection: upgrade',
      'Upgrade: x',
      'Trailer: a',
      'a b: c',
      ': x',
      'A:',
    );
    const body = fc.constantFrom('', 'abc', '3\r\nabc\r\n0\r\n\r\n', 'zz\r\n', '0\r\nA: \x01\r\n\r\n');
    const reply = fc.tuple(line, fc.array(header, { maxLength: 3 }), body);
    let next = '';
    await using web = await startRaw((socket) => socket.once('data', () => socket.end(next, 'latin1')));
    await using proxy = await open(web.port, { limits: { idleTimeoutMs: 2000 } });
    await fc.assert(
      fc.asyncProperty(reply, async ([status, headers, rest]) => {
        next = [status, ...headers, '', rest].join('\r\n');
        expect(await proxy.exchange(get(`http://good.test:${web.port}/`))).toMatch(/^HTTP\/1\.1 \d{3} |^$/);
      }),
      { numRuns: 300 },
    );
  });

  test('a request of any bytes', async () => {
    await using web = await startWeb((_, response) => response.end('ok'));
    await using proxy = await open(web.port, { limits: { idleTimeoutMs: 100, helloTimeoutMs: 100 } });
    const host = `good.test:${web.port}`;
    const piece = fc.constantFrom(
      ...[
        'GET ',
        'CONNECT ',
        'POST ',
        `http://${host}/`,
        host,
        '/',
        ' HTTP/1.1\r\n',
        ' HTTP/1.0\r\n',
        `Host: ${host}\r\n`,
      ],
      ...[
        'Content-Length: 3\r\n',
        'Transfer-Encoding: chunked\r\n',
        'Expect: 100-continue\r\n',
        'Upgrade: x\r\nConnection: upgrade\r\n',
      ],
      ...['\r\n', '\r\n\r\n', 'abc', '0\r\n\r\n', '\x16\x03\x01', '\0', '\xff', get(`http://${host}/`)],
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 10 }), async (parts) => {
        const socket = proxy
          .connect()
          .on('error', () => {})
          .resume();
        socket.end(Buffer.from(parts.join(''), 'latin1'));
        if (!socket.closed) await once(socket, 'close');
      }),
      { numRuns: 300 },
    );
    // On a busy machine even a good connection may be idle for too long.
    await vi.waitFor(async () => expect(await proxy.exchange(get(`http://${host}/`))).toContain('ok'));
  });
});

describe('limits', () => {
  test('endless headers are refused', async () => {
    await using proxy = await open(80);
    const answer = await proxy.exchange(get('http://good.test/', [`X: ${'x'.repeat(40_000)}`]));
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
  });

  test('connections without a request are closed', async () => {
    await using proxy = await open(80, { limits: { idleTimeoutMs: 100 } });
    const socket = proxy.connect();
    await once(socket, 'close');
  });

  test('connections over the limit are dropped, and free slots are used again', async () => {
    await using proxy = await open(80, { limits: { maxConnections: 3 } });
    const sockets = Array.from({ length: 10 }, () =>
      proxy
        .connect()
        .on('error', () => {})
        .resume(),
    );
    await eventually(() => sockets.filter((socket) => socket.destroyed).length === 7);
    for (const socket of sockets) socket.destroy();
    await eventually(() => sockets.every((socket) => socket.closed));
    expect(await proxy.exchange(get('http://evil.test/'))).toMatch(/^HTTP\/1\.1 403 /);
  });

  test('requests in sequence on one connection do not open more connections', async () => {
    await using web = await startWeb(() => {});
    await using proxy = await open(web.port, { limits: { maxConnections: 3 } });
    const socket = proxy.connect().on('error', () => {});
    const request = `GET http://good.test:${web.port}/ HTTP/1.1\r\nHost: good.test:${web.port}\r\n\r\n`;
    socket.write(request.repeat(100));
    await eventually(() => web.seen.connections === 3);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(proxy.dials).toHaveLength(3);
    socket.destroy();
    await eventually(() => [...web.sockets].every((one) => one.destroyed));
    const other = proxy.connect();
    other.write(request);
    await eventually(() => proxy.dials.length === 4);
    other.destroy();
  });

  test('bytes in total: transfers are cut, new requests are refused, and both are reported', async () => {
    await using web = await startWeb((_, response) => response.end(Buffer.alloc(1_000_000)));
    await using proxy = await open(web.port, { limits: { maxTotalBytes: 300_000 } });
    const url = `http://good.test:${web.port}/`;
    expect((await proxy.exchange(get(url))).length).toBeLessThan(320_000);
    expect(await proxy.exchange(get(url))).toMatch(/^HTTP\/1\.1 403 .*used all of its 300000 bytes/);
    expect(await proxy.exchange(`CONNECT good.test:${web.port} HTTP/1.1\r\nHost: a\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 403 /,
    );
    expect(proxy.denials.map(({ rule }) => rule)).toEqual(['bytes', 'bytes', 'bytes']);
  });

  test('a program that does not read slows the server down, and memory does not grow', async () => {
    let sent = 0;
    await using web = await startWeb((_, response) => {
      const send = () => {
        do sent += 65_536;
        while (sent < 500_000_000 && response.write(Buffer.alloc(65_536)));
      };
      response.on('drain', send);
      send();
    });
    await using proxy = await open(web.port);
    const socket = proxy.connect();
    socket.write(get(`http://good.test:${web.port}/`));
    await eventually(() => sent > 0);
    for (let before = 0; before !== sent; ) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    // Allows for the bytes in the kernel's buffers between the four sockets, and in those of the proxy.
    expect(sent).toBeLessThan(20_000_000);
    socket.destroy();
  });
});

describe('its socket', () => {
  test('is for one user, and is removed at the end with every connection', async () => {
    await using web = await startRaw();
    await using proxy = await open(web.port);
    expect(statSync(proxy.socketPath).mode & 0o777).toBe(0o600);
    const socket = proxy.connect().on('error', () => {});
    const tunnel = await openTunnel(proxy, `good.test:${web.port}`);
    socket.write(get(`http://good.test:${web.port}/`));
    await eventually(() => web.seen.connections === 2);
    await proxy.close();
    await eventually(() => socket.destroyed && tunnel.destroyed && [...web.sockets].every((one) => one.destroyed));
    expect(existsSync(proxy.socketPath)).toBe(false);
  });

  test('cannot be taken over by another proxy', async () => {
    await using proxy = await open(80);
    const judge = { host: () => ({ allowed: true }) as const, address: () => ({ allowed: true }) as const };
    await expect(startProxy({ socketPath: proxy.socketPath, judge, onDenied() {} })).rejects.toThrow('EADDRINUSE');
    const tooLong = `/tmp/${'x'.repeat(200)}`;
    await expect(startProxy({ socketPath: tooLong, judge, onDenied() {} })).rejects.toThrow();
    expect(await proxy.exchange(get('http://evil.test/'))).toMatch(/^HTTP\/1\.1 403 /);
  });
});

test('programs get the proxy in every spelling of its variables, without it for loopback', () => {
  const environment = proxyEnvironment('http://127.0.0.1:3128');
  for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY']) {
    expect(environment[name]).toBe('http://127.0.0.1:3128');
  }
  expect(environment.no_proxy).toBe('localhost,127.0.0.1,::1');
  expect(environment.NO_PROXY).toBe(environment.no_proxy);
});
