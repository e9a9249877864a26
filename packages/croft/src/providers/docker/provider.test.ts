import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, closeSync, constants, mkdirSync, openSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { homedir } from 'node:os';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { describeSandbox, type OpenedSandbox, runIn, shellIn } from '../../../test/contracts/sandbox.ts';
import { makeDirectory } from '../../../test/support/harness.ts';
import { startEngine } from '../../../test/support/sandboxes/docker-engine.ts';
import { openSandbox, roomyLimits } from '../../../test/support/sandboxes/open-sandbox.ts';
import type { Provider, Sandbox } from '../../core/commands/sandbox.ts';
import { ownLabel } from './container-config.ts';
import { createEngineClient } from './engine-client.ts';
import { createDocker } from './provider.ts';
import { sweepLeftovers } from './sweep-leftovers.ts';

const operator = { path: process.env.PATH ?? '', home: homedir() };
const isRoot = process.getuid?.() === 0;
const docker = await startEngine();
afterAll(() => docker?.[Symbol.asyncDispose]());

function makeFixture(tree: Record<string, string> = {}) {
  const fixture = makeDirectory(tree);
  onTestFinished(() => fixture[Symbol.dispose]());
  return fixture;
}

/** Lends the same sandbox to each test while it is open, because making one takes a while. */
function createLending(provider: Provider): () => Promise<OpenedSandbox> {
  const [idle, fixtures]: [OpenedSandbox[], Disposable[]] = [[], []];
  const closed = new WeakSet<Sandbox>();
  afterAll(async () => {
    await Promise.all(idle.map(({ sandbox }) => sandbox.close()));
    for (const fixture of fixtures) fixture[Symbol.dispose]();
  });
  return async () => {
    const lent = idle.pop() ?? (await openOne());
    onTestFinished(() => void (closed.has(lent.sandbox) || idle.push(lent)));
    return lent;
  };

  async function openOne(): Promise<OpenedSandbox> {
    const fixture = makeDirectory();
    fixtures.push(fixture);
    const directory = openSync(fixture.path, constants.O_RDONLY | constants.O_DIRECTORY);
    const spec = { directoryFd: directory, workspacePath: '/workspace', limits: roomyLimits, readable: [] };
    const sandbox = await provider.open({ ...spec, network: { mode: 'deny-all' } });
    void sandbox.closed.then(() => closed.add(sandbox) && closeSync(directory));
    return { sandbox, directory: fixture.path };
  }
}

const unavailable = (message: RegExp) => ({
  code: 'E_SANDBOX_UNAVAILABLE',
  details: { provider: 'docker' },
  message: expect.stringMatching(message),
});

describe.runIf(docker)('docker', () => {
  const socket = docker?.socket ?? '';
  const provider = createDocker({ ...operator, dockerSocket: socket });

  describeSandbox('docker', createLending(provider));

  test.runIf(isRoot)(
    'commands run as the owner of the workspace, without privileges, and see nothing else',
    async () => {
      const fixture = makeFixture({ '.git/hooks/pre-commit': 'true', '.git/HEAD': 'ref: refs/heads/main' });
      chmodSync(fixture.path, 0o755);
      for (const name of ['', '.git', '.git/hooks', '.git/hooks/pre-commit', '.git/HEAD'])
        chownSync(fixture.at(name), 60_417, 60_417);
      const sandbox = await openSandbox(fixture.path, { provider });
      const { stdout } = await shellIn(sandbox, 'id -un; touch made; grep -E "^Cap(Prm|Bnd)|^NoNew" /proc/self/status');
      expect(stdout).toBe('croft\nCapPrm:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\n');
      expect(statSync(fixture.at('made')).uid).toBe(60_417);
      // Only the shell itself can report what was refused.
      const writes = ['/usr/x', '/etc/x', '/run/x', '/dev/x', '.git/hooks/pre-commit', '.git/hooks/x'];
      const tried = await shellIn(
        sandbox,
        writes.map((path) => `(echo evil > ${path}) 2>/dev/null && echo ${path}`).join('\n'),
      );
      expect(tried.stdout).toBe('');
      expect((await shellIn(sandbox, 'mv .git .gone; ls -A /sys /root; cat /proc/net/dev | wc -l')).stdout).toMatch(
        /^\/sys:\n3\n$/,
      );
      expect((await shellIn(sandbox, `ls ${socket} /var/run/docker.sock /run/docker.sock`)).stdout).toBe('');
    },
  );

  test('reports refusals by its limits', async () => {
    const fixture = makeFixture();
    const sandbox = await openSandbox(fixture.path, { provider });
    const eat = 'import os; x = b"x" * (2 * 1024 ** 3)';
    expect((await runIn(sandbox, ['/usr/bin/python3', '-c', eat])).signal).toBe('SIGKILL');
    expect(sandbox.takeDenials()).toMatchObject([{ layer: 'limit', rule: 'memory' }]);
    expect((await runIn(sandbox, ['echo', 'here'])).stdout).toBe('here\n');
  });

  test.runIf(isRoot)('a name that leads to another directory by now is refused', async () => {
    const fixture = makeFixture();
    mkdirSync(fixture.at('workspace'));
    const directory = openSync(fixture.at('workspace'), constants.O_RDONLY | constants.O_DIRECTORY);
    onTestFinished(() => closeSync(directory));
    execFileSync('mount', ['-t', 'tmpfs', 'croft-test', fixture.at('workspace')]);
    const spec = { directoryFd: directory, workspacePath: '/workspace', limits: roomyLimits, readable: [] };
    const opening = provider.open({ ...spec, network: { mode: 'deny-all' } });
    await expect(opening).rejects.toMatchObject(unavailable(/^Docker sees another directory/));
    expect(await docker?.ask('GET', '/containers/json?all=1&filters={"status":["created","exited"]}')).toEqual([]);
  });

  test.runIf(isRoot)('a readable directory cannot be changed, nor the mounts below it', async () => {
    const [fixture, library] = [makeFixture(), makeFixture({ 'a.txt': 'to read' })];
    mkdirSync(library.at('below'));
    execFileSync('mount', ['-t', 'tmpfs', 'croft-test', library.at('below')]);
    writeFileSync(library.at('below/b.txt'), ' and below');
    const sandbox = await openSandbox(fixture.path, { provider, readable: [library.path] });
    const script = `cd ${library.path} && cat a.txt below/b.txt; touch c.txt; touch below/c.txt; ls . below`;
    expect((await shellIn(sandbox, script)).stdout).toBe('to read and below.:\na.txt\nbelow\n\nbelow:\nb.txt\n');
  });

  test.each([
    ['allow-all', 'heard'],
    ['deny-all', ''],
  ] as const)('with the network policy %s a server of this machine can be reached, or not', async (mode, heard) => {
    const server = createServer((connection) => connection.end('heard'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const sandbox = await openSandbox(makeFixture().path, { provider, network: { mode } });
    const { port } = server.address() as AddressInfo;
    const ask = `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`;
    expect((await runIn(sandbox, ['/bin/bash', '-c', ask])).stdout).toBe(heard);
  });

  test('an image has its own programs, and is never downloaded', async () => {
    const fixture = makeFixture();
    const libraries = execFileSync('ldd', ['/usr/bin/dash'], { encoding: 'utf8' }).match(/\/\S+/g) ?? [];
    const tar = execFileSync('tar', ['-chPf', '-', '/usr/bin/dash', ...libraries], { maxBuffer: 2 ** 26 });
    const make = (name: string, change: string) =>
      docker?.ask('POST', `/images/create?fromSrc=-&repo=${name}&tag=1&changes=${encodeURIComponent(change)}`, tar);
    await make('small', 'ENV PATH=/usr/bin');
    await make('roomy', 'VOLUME /data');
    const open = (image: string) =>
      openSandbox(fixture.path, { provider: createDocker({ ...operator, dockerSocket: socket, image }) });
    const sandbox = await open('small:1');
    const { stdout } = await runIn(sandbox, ['dash', '-c', 'echo /usr/bin/* $PATH; echo made > made']);
    expect(stdout).toBe('/usr/bin/dash /usr/bin\n');
    await expect(open('roomy:1')).rejects.toMatchObject(unavailable(/has volumes \(\/data\)/));
    await expect(open('absent:1')).rejects.toMatchObject(
      unavailable(/^the image absent:1 is not .+: docker pull absent:1$/),
    );
  });

  test('containers of a killed server are removed, and no others', async () => {
    await openSandbox(makeFixture().path, { provider });
    const engine = createEngineClient(socket);
    const [{ Image }] = (await docker?.ask('GET', '/containers/json')) ?? [];
    const left = await engine.create('left', { Image, Cmd: ['x'], Labels: { [ownLabel]: '1' } });
    const foreign = await engine.create('foreign', { Image, Cmd: ['x'] });
    onTestFinished(() => engine.remove(foreign));
    await sweepLeftovers(engine);
    expect(await docker?.containers()).toContain('/left');
    await sweepLeftovers(engine, -60_000);
    expect(await docker?.containers()).toEqual(
      expect.arrayContaining(['/foreign', expect.stringMatching(/^\/croft-/)]),
    );
    expect(await docker?.containers()).not.toContain('/left');
    await expect(engine.remove(left)).resolves.toBeUndefined();
  });
});

describe('without a Docker engine', () => {
  const openWith = (dockerSocket: string) =>
    openSandbox(makeFixture().path, { provider: createDocker({ ...operator, dockerSocket }) });

  test('no sandbox is opened, and the error has the next step', async () => {
    const fixture = makeFixture({ 'not-a-socket': '' });
    const expected = unavailable(/^Docker does not answer on this machine; install and start it .+CROFT_DOCKER_HOST$/);
    await expect(openWith(fixture.at('absent'))).rejects.toMatchObject(expected);
    await expect(openWith(fixture.at('not-a-socket'))).rejects.toMatchObject(expected);
  });

  test('an engine that sends garbage is refused, and one that never answers times out', async () => {
    const fixture = makeFixture();
    let isSilent = false;
    const server = createServer((connection) => {
      connection.on('error', () => {});
      if (!isSilent) connection.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"a":"b"}');
    });
    await new Promise<void>((resolve) => server.listen(fixture.at('socket'), resolve));
    onTestFinished(() => void server.close());
    await expect(openWith(fixture.at('socket'))).rejects.toMatchObject(unavailable(/^Docker cannot make a sandbox/));
    isSilent = true;
    await expect(createEngineClient(fixture.at('socket'), 50).list({})).rejects.toMatchObject({ code: 'ABORT_ERR' });
  });
});
