import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { shellIn } from '../../../test/contracts/sandbox.ts';
import { makeDirectory } from '../../../test/support/harness.ts';
import { openSandbox } from '../../../test/support/sandboxes/open-sandbox.ts';
import { startWeb } from '../../../test/support/servers/test-proxy.ts';
import type { NetworkPolicy } from '../../core/commands/network-policy.ts';
import type { Sandbox } from '../../core/commands/sandbox.ts';
import { reportTemporaryBase } from '../../lib/files/temporary-base.ts';

let web: Awaited<ReturnType<typeof startWeb>>;

beforeAll(async () => {
  web = await startWeb((request, response) => {
    if (request.url === '/away') response.writeHead(302, { location: 'http://169.254.169.254/latest/' }).end();
    else response.end('hello from outside');
  });
});
afterAll(() => web[Symbol.asyncDispose]());

function open(network: NetworkPolicy): Promise<Sandbox> {
  const fixture = makeDirectory();
  onTestFinished(() => fixture[Symbol.dispose]());
  return openSandbox(fixture.path, { network });
}

const openRestricted = () => open({ mode: 'restricted', domains: [], cidrs: [`127.0.0.1/32:${web.port}`] });
/** Always uses the proxy, as a program does that calls another machine. */
const curl = (sandbox: Sandbox, url: string, ...flags: string[]) =>
  shellIn(sandbox, `curl -sS --max-time 10 --noproxy '' ${flags.join(' ')} '${url}'`);

test('a restricted network reaches the allowed hosts, and reports the rule for each refusal', async () => {
  const sandbox = await openRestricted();
  expect(await curl(sandbox, `http://127.0.0.1:${web.port}/`)).toMatchObject({ stdout: 'hello from outside', code: 0 });
  expect(sandbox.takeDenials()).toEqual([]);

  const { stdout } = await curl(sandbox, 'http://example.com/');
  expect(stdout).toContain('Blocked by the network policy of this sandbox (rule: domains)');
  expect(sandbox.takeDenials()).toEqual([
    { layer: 'network', rule: 'domains', target: 'example.com:80', next: expect.stringContaining('Ask the operator') },
  ]);
  expect((await curl(sandbox, 'https://example.com/')).stderr).toContain('403');
  expect(sandbox.takeDenials()).toMatchObject([{ rule: 'domains', target: 'example.com:443' }]);
});

test('the target of a redirect is judged again', async () => {
  const sandbox = await openRestricted();
  const { stdout } = await curl(sandbox, `http://127.0.0.1:${web.port}/away`, '-L');
  expect(stdout).toContain('(rule: cidrs)');
  expect(sandbox.takeDenials()).toMatchObject([{ layer: 'network', target: '169.254.169.254:80' }]);
});

test('a program that does not use the proxy has no way out', async () => {
  const sandbox = await openRestricted();
  const { stdout } = await shellIn(
    sandbox,
    `bash -c 'echo x > /dev/tcp/127.0.0.1/${web.port}' 2>&1; bash -c 'echo x > /dev/tcp/1.1.1.1/80' 2>&1; getent hosts example.com || echo no resolver`,
  );
  expect(stdout).toContain('Connection refused');
  expect(stdout).toContain('Network is unreachable');
  expect(stdout).toContain('no resolver');
});

test('a relay that a program ends is started again for the next connection', async () => {
  const sandbox = await openRestricted();
  const url = `http://127.0.0.1:${web.port}/`;
  expect((await curl(sandbox, url)).code).toBe(0);
  // The first child of the init is the relay, which is older than this command.
  const killed = await shellIn(
    sandbox,
    'cd /proc; for p in $(ls | sort -n); do if grep -q "PPid:.1$" $p/status; then kill -9 $p && echo ended; break; fi; done',
  );
  expect(killed.stdout).toContain('ended');
  expect((await curl(sandbox, url)).stdout).toBe('hello from outside');
});

test('the proxy leaves nothing on this machine, not even while it is used', async () => {
  using own = makeDirectory();
  // Other processes on this machine open sandboxes too.
  vi.stubEnv('TMPDIR', own.path);
  const sandbox = await openRestricted().finally(() => vi.unstubAllEnvs());
  expect((await curl(sandbox, `http://127.0.0.1:${web.port}/`)).code).toBe(0);
  expect(readdirSync(reportTemporaryBase(own.path).path).filter((name) => !name.startsWith('croft-test-'))).toEqual([]);
});

test('an empty list allows nothing', async () => {
  const sandbox = await open({ mode: 'restricted', domains: [], cidrs: [] });
  expect((await curl(sandbox, `http://127.0.0.1:${web.port}/`)).stdout).toContain('(rule: cidrs)');
});

test('allow-all gives the network of this machine, deny-all none', async () => {
  const script = `curl -sS --max-time 10 http://127.0.0.1:${web.port}/`;
  expect((await shellIn(await open({ mode: 'allow-all' }), script)).stdout).toBe('hello from outside');
  expect((await shellIn(await open({ mode: 'deny-all' }), script)).code).not.toBe(0);
});

test('abstract sockets of this machine cannot be reached, even with its network', async () => {
  const name = `croft-test-${process.pid}`;
  const server = createServer((socket) => socket.end('reached')).listen(`\0${name}`);
  onTestFinished(() => void server.close());
  const script = `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, pack_sockaddr_un("\\0${name}")) or die "$!\\n"; print <S>'`;
  const { stdout, stderr } = await shellIn(await open({ mode: 'allow-all' }), script);
  expect(stdout).toBe('');
  expect(stderr).toContain('Operation not permitted');
});

test('a refused system call is reported by name, once per command', async () => {
  const sandbox = await open({ mode: 'deny-all' });
  const call = { layer: 'system-call', rule: 'unshare' };
  expect((await shellIn(sandbox, 'unshare -U true; unshare -U true')).stderr).toContain('Operation not permitted');
  expect(sandbox.takeDenials()).toMatchObject([call]);
  await shellIn(sandbox, 'chmod u+s /tmp; true');
  expect(sandbox.takeDenials()).toMatchObject([{ layer: 'system-call', rule: 'chmod to set-id' }]);
  await shellIn(sandbox, 'true');
  expect(sandbox.takeDenials()).toEqual([]);
});
