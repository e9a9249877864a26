import { once } from 'node:events';
import * as https from 'node:https';
import { describe, expect, test } from 'vitest';
import {
  captureHello,
  eventually,
  openProxy,
  openTunnel,
  readAll,
  startWeb as startPlainWeb,
  startRaw,
} from '../../../../test/support/servers/test-proxy.ts';
import { connectCommand, failureOf, open, secure, startWeb } from '../../../../test/support/servers/tunnel-fixture.ts';

describe('carries', () => {
  test('HTTPS to an allowed host, end to end', async () => {
    await using web = await startWeb();
    await using proxy = await open(web.port);
    const client = secure(await openTunnel(proxy, `good.test:${web.port}`), 'good.test');
    const request = https.request({ createConnection: () => client, method: 'POST', path: '/', host: 'good.test' });
    const body = Buffer.alloc(10 * 1024 * 1024, 'x');
    request.end(body);
    const [reply] = await once(request, 'response');
    expect(Buffer.concat(await reply.toArray()).equals(body)).toBe(true);
    expect(client.getPeerCertificate().subject.CN).toBe('good.test');
    expect(proxy.denials).toEqual([]);
    client.destroy();
  });

  test('a hello that is sent together with the CONNECT', async () => {
    await using trap = await startRaw();
    await using proxy = await open(trap.port);
    const hello = await captureHello('good.test');
    const socket = proxy.connect();
    socket.write(Buffer.concat([Buffer.from(connectCommand(`good.test:${trap.port}`)), hello]));
    await eventually(() => trap.seen.bytes === hello.length);
    socket.destroy();
  });

  test('a hello that comes byte by byte, and sends nothing on before it is complete', async () => {
    await using trap = await startRaw();
    await using proxy = await open(trap.port);
    const hello = await captureHello('GOOD.test');
    const socket = await openTunnel(proxy, `good.test:${trap.port}`);
    for (const byte of hello.subarray(0, -1)) {
      socket.write(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    expect(trap.seen).toEqual({ connections: 1, bytes: 0 });
    socket.write(hello.subarray(-1));
    await eventually(() => trap.seen.bytes === hello.length);
    socket.destroy();
  });

  test('a connection without a server name, to an address that a CIDR allows', async () => {
    await using web = await startWeb();
    await using proxy = await open(web.port);
    const client = secure(await openTunnel(proxy, `127.0.0.1:${web.port}`), undefined);
    await once(client, 'secureConnect');
    client.destroy();
    const named = secure(await openTunnel(proxy, `127.0.0.1:${web.port}`), 'other.test');
    expect(await failureOf(named)).toMatch(/access denied/i);
    expect(proxy.denials).toMatchObject([{ host: '127.0.0.1', rule: 'tls-name' }]);
  });

  test('the end of either side to the other side', async () => {
    await using trap = await startRaw();
    await using proxy = await open(trap.port);
    const hello = await captureHello('good.test');
    const tunnels = await Promise.all([1, 2, 3].map(() => openTunnel(proxy, `good.test:${trap.port}`)));
    for (const socket of tunnels) socket.resume().write(hello);
    await eventually(() => trap.seen.bytes === 3 * hello.length);
    const [leaving, , left] = tunnels;
    const servers = [...trap.sockets];
    leaving!.destroy();
    await eventually(() => servers.filter((one) => one.destroyed).length === 1);
    for (const server of servers) server.resetAndDestroy();
    await eventually(() => left!.destroyed);
  });

  test('plain HTTP in a tunnel, each request judged by its Host header', async () => {
    await using web = await startPlainWeb((request, response) => response.end(`${request.method} ${request.url}`));
    await using proxy = await open(web.port);
    const socket = await openTunnel(proxy, `good.test:${web.port}`);
    const request = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: good.test:${web.port}\r\n${more}\r\n`;
    for (const byte of request('/first')) {
      socket.write(byte);
      await new Promise(setImmediate);
    }
    const [first] = await once(socket, 'data');
    socket.write(request('/second') + request('/third', 'Connection: close\r\n'));
    const rest = await readAll(socket);
    expect(`${first}${rest}`.match(/GET \/(first|second|third)/g)).toEqual(['GET /first', 'GET /second', 'GET /third']);
    expect(proxy.denials).toEqual([]);
  });

  test('nothing more after a program leaves in the middle of an answer, and serves others', async () => {
    await using trap = await startRaw((socket) => {
      const flood = () => {
        while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
      };
      socket.on('drain', flood).once('data', flood);
    });
    await using proxy = await open(trap.port);
    const hello = await captureHello('good.test');
    for (let round = 0; round < 10; round++) {
      const socket = await openTunnel(proxy, `good.test:${trap.port}`);
      socket.write(hello);
      await once(socket, 'data');
      socket.destroy();
    }
    await eventually(() => [...trap.sockets].every((one) => one.destroyed));
  });

  test('the rest of an answer to a side that has finished sending', async () => {
    await using trap = await startRaw((socket) => {
      socket.allowHalfOpen = true;
      socket.on('end', () => socket.end('the last word'));
    });
    await using proxy = await open(trap.port);
    const socket = await openTunnel(proxy, `good.test:${trap.port}`);
    socket.end(await captureHello('good.test'));
    expect((await readAll(socket)).toString()).toBe('the last word');
  });

  test('a limited number of bytes in total', async () => {
    await using trap = await startRaw((socket) => socket.once('data', () => socket.write(Buffer.alloc(1_000_000))));
    await using proxy = await open(trap.port, { limits: { maxTotalBytes: 300_000 } });
    const socket = await openTunnel(proxy, `good.test:${trap.port}`);
    socket.write(await captureHello('good.test'));
    expect((await readAll(socket)).length).toBeLessThanOrEqual(300_000);
    expect(proxy.denials).toMatchObject([{ host: 'good.test', rule: 'bytes' }]);
  });
});

describe('refuses', () => {
  test.each([
    ['another name', 'other.test', 'names other.test'],
    ['a name below', 'www.good.test', 'names www.good.test'],
    ['no name', undefined, 'names no server (SNI)'],
  ])('a hello with %s, before a byte of it goes out', async (_, servername, words) => {
    await using web = await startWeb();
    await using proxy = await open(web.port);
    const client = secure(await openTunnel(proxy, `good.test:${web.port}`), servername);
    expect(await failureOf(client)).toMatch(/access denied/i);
    expect(proxy.denials).toMatchObject([{ host: 'good.test', port: web.port, rule: 'tls-name' }]);
    expect(proxy.denials[0]?.reason).toContain(words);
    await eventually(() => [...web.sockets].every((one) => one.destroyed));
    expect(web.seen.bytes).toBe(0);
  });

  test('an encrypted hello', async () => {
    await using trap = await startRaw();
    await using proxy = await open(trap.port);
    const hello = await captureHello('good.test');
    // Adds an extension at the end and increases every length around it.
    const encrypted = Buffer.from([0xfe, 0x0d, 0, 4, 1, 2, 3, 4]);
    const grown = Buffer.concat([hello, encrypted]);
    grown.writeUInt16BE(grown.readUInt16BE(3) + 8, 3);
    grown.writeUIntBE(grown.readUIntBE(6, 3) + 8, 6, 3);
    const session = 5 + 4 + 34;
    const ciphers = session + 1 + grown.readUInt8(session);
    const extensions = ciphers + 2 + grown.readUInt16BE(ciphers) + 2;
    grown.writeUInt16BE(grown.readUInt16BE(extensions) + 8, extensions);
    const socket = await openTunnel(proxy, `good.test:${trap.port}`);
    socket.write(grown);
    expect(await readAll(socket)).toEqual(Buffer.from([21, 3, 3, 0, 2, 2, 49]));
    expect(proxy.denials).toMatchObject([{ rule: 'tls-name', reason: expect.stringContaining('ECH') }]);
    expect(trap.seen.bytes).toBe(0);
  });

  test.each([
    ['another protocol', '\0\0\0\x08\x04\xd2\x16\x2f'],
    ['SOCKS', '\x05\x01\0'],
    ['an empty line', '\r\n\r\n'],
  ])('%s in a tunnel, before a byte of it goes out', async (_, bytes) => {
    await using trap = await startRaw();
    await using proxy = await open(trap.port);
    const socket = await openTunnel(proxy, `good.test:${trap.port}`);
    socket.write(bytes);
    const answer = (await readAll(socket)).toString('latin1');
    expect(answer).toMatch(/^HTTP\/1\.1 403 .*did not begin with TLS/);
    expect(proxy.denials).toMatchObject([{ host: 'good.test', rule: 'tls' }]);
    expect(trap.seen.bytes).toBe(0);
  });

  test.each([
    ['another host', 'GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n', 'host-header'],
    ['a whole URL', 'GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n', 'request-form'],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: good.test:PORT\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      'request-form',
    ],
    ['what is no HTTP', 'SSH-2.0-OpenSSH_9.0\r\n', 'request-form'],
  ])('plain HTTP in a tunnel with %s', async (_, bytes, rule) => {
    await using trap = await startRaw();
    await using proxy = await open(trap.port);
    const socket = await openTunnel(proxy, `good.test:${trap.port}`);
    socket.write(bytes.replace('PORT', String(trap.port)));
    expect((await readAll(socket)).toString()).toMatch(/^HTTP\/1\.1 400 /);
    expect(proxy.denials).toMatchObject([{ rule }]);
    expect(trap.seen.bytes).toBe(0);
  });

  test('a hello that never ends, long before its deadline', async () => {
    await using trap = await startRaw();
    await using proxy = await open(trap.port, { limits: { helloTimeoutMs: 600_000 } });
    const socket = await openTunnel(proxy, `good.test:${trap.port}`);
    const record = Buffer.concat([Buffer.from([22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff]), Buffer.alloc(16_380)]);
    socket.write(Buffer.concat([record, record]));
    expect(await readAll(socket)).toEqual(Buffer.from([21, 3, 3, 0, 2, 2, 49]));
    expect(proxy.denials).toMatchObject([{ rule: 'tls' }]);
    expect(trap.seen.bytes).toBe(0);
  });

  test('a tunnel in a tunnel', async () => {
    await using trap = await startRaw();
    await using proxy = await open(trap.port);
    const socket = await openTunnel(proxy, `good.test:${trap.port}`);
    socket.write(connectCommand('good.test:443'));
    expect((await readAll(socket)).toString()).toBe('');
    expect(trap.seen.bytes).toBe(0);
  });

  test('a tunnel without data', async () => {
    await using trap = await startRaw((socket) => socket.write('220 smtp.good.test ready\r\n'));
    await using proxy = await open(trap.port, { limits: { helloTimeoutMs: 100 } });
    const socket = await openTunnel(proxy, `good.test:${trap.port}`);
    const answer = (await readAll(socket)).toString();
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(answer).not.toContain('smtp');
    await eventually(() => [...trap.sockets].every((one) => one.destroyed));
  });

  test('nothing, if a tunnel is closed before it is used', async () => {
    await using trap = await startRaw();
    await using proxy = await open(trap.port);
    const socket = await openTunnel(proxy, `good.test:${trap.port}`);
    socket.end();
    await eventually(() => trap.sockets.size === 1 && [...trap.sockets].every((one) => one.destroyed));
    expect(proxy.denials).toEqual([]);
  });

  test.each([
    ['evil.test:443', 403, 'domains'],
    ['evilgood.test:443', 403, 'domains'],
    ['good.test:22', 403, 'ports'],
    ['good.test:443', 403, 'ports'],
    ['1.1.1.1:443', 403, 'cidrs'],
    ['1.1.1.1:853', 403, 'cidrs'],
    ['[2606:4700:4700::1111]:443', 403, 'cidrs'],
    ['127.0.0.1:3128', 403, 'cidrs'],
    ['[::ffff:127.0.0.1]:443', 403, 'cidrs'],
    ['169.254.169.254:80', 403, 'cidrs'],
    ['0177.0.0.1:443', 400, 'request-form'],
    ['2130706433:443', 400, 'request-form'],
    ['[::1%lo]:443', 400, 'request-form'],
    ['user@good.test:443', 400, 'request-form'],
    ['good.test', 400, 'request-form'],
    ['http://good.test/', 400, 'request-form'],
  ])('CONNECT %s', async (authority, status, rule) => {
    await using proxy = await open(8443);
    const answer = await proxy.exchange(connectCommand(authority));
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toContain(rule);
    expect(proxy.denials).toMatchObject([{ rule }]);
    expect([proxy.lookups, proxy.dials]).toEqual([[], []]);
  });

  test('an allowed name that resolves to an internal address', async () => {
    await using proxy = await openProxy({ domains: ['good.test'], names: { 'good.test': ['1.1.1.1', '10.0.0.1'] } });
    expect(await proxy.exchange(connectCommand('good.test:443'))).toMatch(/^HTTP\/1\.1 403 .*10\.0\.0\.1 is a private/);
    expect(proxy.dials).toEqual([]);
  });
});
