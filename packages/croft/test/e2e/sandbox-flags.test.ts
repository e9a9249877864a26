import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, test, vi } from 'vitest';
import { sha256 } from '../../src/lib/crypto/sha256.ts';
import { uniqueSeconds } from '../contracts/sandbox.ts';
import { connectHttp, connectStdio, makeDirectory, runCroft, startServer } from '../support/harness.ts';

const bare = ['--sandbox', 'none', '--network', 'allow-all'];
const bareWords = 'croft: commands run on this machine without isolation (--sandbox none)';
const openWords = 'croft: commands share the network of this machine (--network allow-all)';
const isRoot = process.getuid?.() === 0;

/** A workspace and a data directory of their own; `run` is one command line in it. */
function makeFixture() {
  const fixture = makeDirectory({ 'workspace/a.txt': 'one\n' });
  const [workspace, data] = [fixture.at('workspace'), fixture.at('data')];
  return {
    ...fixture,
    workspace,
    data,
    run(command: string, flags: readonly string[] = [], { at = workspace, env = {} } = {}) {
      const input = JSON.stringify({ command });
      return runCroft(['tool', 'bash', input, '--workspace', at, ...flags], { env: { CROFT_DATA: data, ...env } });
    },
  };
}

describe.concurrent('flags of a sandbox', () => {
  test.each([
    [['--sandbox', 'podman'], /^--sandbox takes one of bubblewrap, docker, none; not "podman"\n$/],
    [['--sandbox', 'none'], /^--sandbox none cannot hold the network policy deny-all; add --network allow-all/],
    [['-sandbox=none', '-network=restricted'], /^--sandbox none cannot hold the network policy restricted; add/],
    [['--durability', 'some'], /^--durability takes one of strict, relaxed; not "some"\n$/],
    [['--network', 'some'], /^--network takes one of deny-all, restricted, allow-all; not "some"\n$/],
    [['--network', 'deny-all', '--allow-domain', 'a.com'], /^--allow-domain and --allow-cidr go with --network restr/],
    [['--allow-domain', 'http://a.com'], /^--allow-domain: "http:\/\/a.com" is not a domain.*\n$/],
    [['--allow-cidr', '10.0.0.0/99'], /^--allow-cidr: "10.0.0.0\/99" is not a CIDR.*\n$/],
    [['--allow-read', '/no/such/directory'], /^--allow-read takes a directory that is there, not "\/no\/such/],
    [['--allow-read', '/'], /^--allow-read "\/" would open all of this machine/],
    [
      ['--limit', 'swap=1g'],
      /^--limit takes NAME=VALUE, where NAME is one of memory, disk, file, processes, cpus, open/,
    ],
    [['--limit', 'memory=some'], /^--limit memory takes a size of 1m or more, such as 512m or 2g, not "some"\n$/],
    [['--limit'], /^.*--limit.*; see: croft \w+ --help\n$/],
  ])('%j stop the program with the reason', async (flags, message) => {
    using fixture = makeFixture();
    const run = await runCroft(['tool', 'list', '--workspace', fixture.workspace, ...flags]);
    expect(run).toEqual({ exitCode: 2, stdout: '', stderr: expect.stringMatching(message) });
  });

  test.each([['mcp'], ['serve', '--port', '0']])('stop croft %s too', async (...command) => {
    using fixture = makeFixture();
    const flags = ['--workspace', fixture.workspace, '--sandbox', 'none'];
    const run = await runCroft([...command, ...flags], { env: { CROFT_DATA: fixture.data } });
    expect(run).toEqual({ exitCode: 2, stdout: '', stderr: expect.stringMatching(/add --network allow-all/) });
  });

  test('are in the help of every command', async () => {
    const flags = ['sandbox', 'network', 'allow-domain', 'allow-cidr', 'allow-read', 'limit'];
    for (const command of ['tool', 'mcp', 'serve']) {
      const { stdout } = await runCroft([command, '--help']);
      for (const flag of flags) expect(stdout).toMatch(new RegExp(`^  --${flag} `, 'm'));
    }
  });

  test('an allowed directory must not contain a workspace or the data directory, nor be inside', async () => {
    using fixture = makeFixture();
    mkdirSync(join(fixture.workspace, 'sub'));
    for (const path of [fixture.path, fixture.workspace, join(fixture.workspace, 'sub'), homedir()]) {
      const run = await fixture.run('true', ['--allow-read', path]);
      expect(run).toMatchObject({ exitCode: 2, stdout: '' });
      expect(run.stderr).toMatch(/^--allow-read ".*" (would open|is inside|overlaps) .*; name .*\n$/);
    }
  });
});

describe.concurrent('the network of a command', () => {
  test('is denied by default, and the start says nothing', async () => {
    using fixture = makeFixture();
    await using server = await startServer(['--workspace', fixture.workspace]);
    const port = new URL(server.url).port;
    const run = await fixture.run(
      `exec 3<>/dev/tcp/127.0.0.1/${port} && echo reached; ls /sys/class/net; tail -n +3 /proc/net/dev`,
    );
    expect(run.stdout).not.toContain('reached');
    expect(run.stdout).toMatch(/lo:/);
    expect(run.stdout).not.toMatch(/eth\d|ens\d|enp\d/);
    expect(run.stderr).not.toContain('croft:');
  });

  test('is open with allow-all, and the start says so', async () => {
    using fixture = makeFixture();
    await using server = await startServer(['--workspace', fixture.workspace]);
    const command = `exec 3<>/dev/tcp/127.0.0.1/${new URL(server.url).port} && echo reached`;
    const run = await fixture.run(command, ['--network', 'allow-all']);
    expect(run).toMatchObject({ exitCode: 0, stdout: 'reached\n', stderr: `${openWords}\n` });
  });

  test('is in the event of each workspace', async () => {
    using fixture = makeFixture();
    for (const flags of [[], ['--allow-domain', 'example.com'], bare])
      await runCroft(['tool', 'list', '--workspace', fixture.workspace, '--events', fixture.at('events'), ...flags]);
    const events = readFileSync(fixture.at('events'), 'utf8').trimEnd().split('\n');
    const sandboxes = events.map((line) => JSON.parse(line)).filter(({ event }) => event.endsWith('workspace.sandbox'));
    expect(sandboxes.map(({ fields }) => [fields.provider, fields.network])).toEqual([
      ['bubblewrap', 'deny-all'],
      ['bubblewrap', 'restricted'],
      ['none', 'allow-all'],
    ]);
  });
});

describe.concurrent('--sandbox none', () => {
  test('is reported at the start of every command', async () => {
    using fixture = makeFixture();
    const words = expect.stringContaining(bareWords);
    const flags = ['--workspace', fixture.workspace, ...bare];
    expect(await runCroft(['tool', 'list', ...flags])).toMatchObject({
      exitCode: 0,
      stdout: 'a.txt\t4\n',
      stderr: words,
    });
    expect(await runCroft(['mcp', ...flags])).toMatchObject({ exitCode: 0, stderr: words });
    await using server = await startServer(flags);
    expect(server.output.stderr()).toContain(bareWords);
    expect(server.output.stderr()).toContain(openWords);
  });

  test('runs a command in the real directory of this machine, without the environment of the server', async () => {
    using fixture = makeFixture();
    writeFileSync(fixture.at('beside'), 'reached');
    const run = await fixture.run('pwd; cat ../beside; echo made > made; env | grep -c CROFT', bare);
    expect(run.stdout).toBe(`${fixture.workspace}\nreached0\nexit: 1\n`);
    expect(readFileSync(join(fixture.workspace, 'made'), 'utf8')).toBe('made\n');
    expect(existsSync(join(fixture.data, 'caches'))).toBe(false);
  });

  test('shows the model the real directory of the demo too', async () => {
    await using server = await startServer(['--demo', ...bare]);
    await using session = await connectHttp(server);
    const root = join(server.data, 'workspaces/demo');
    expect((await session.call('workspaces')).structured.workspaces).toMatchObject([{ root }]);
    expect((await session.call('bash', { command: 'pwd' })).text).toBe(`${root}\n`);
  });

  test('leaves no process when the server is killed', async () => {
    using fixture = makeFixture();
    const seconds = uniqueSeconds();
    await using session = await connectStdio(['--workspace', fixture.workspace, ...bare], { era: '2025' });
    await session.call('bash', { command: `setsid sleep ${seconds} & sleep ${seconds}`, run_in_background: true });
    await vi.waitFor(() => expect(countOf(seconds)).toBe(2));
    process.kill((session.transport as StdioClientTransport).pid ?? 0, 'SIGKILL');
    await vi.waitFor(() => expect(countOf(seconds)).toBe(0));
  });
});

test('--allow-read shows a directory, which stays read-only', async () => {
  using fixture = makeFixture();
  // Not below /tmp, of which a sandbox has its own.
  const shared = mkdtempSync(join(homedir(), '.croft-test-'));
  try {
    writeFileSync(join(shared, 'a.txt'), 'shared\n');
    const command = `cat ${shared}/a.txt; echo x > ${shared}/a.txt; echo x > ${shared}/new; rm ${shared}/a.txt; ls ${homedir()}`;
    const hidden = await fixture.run(command);
    expect(hidden.stdout).not.toContain('shared\n');
    const shown = await fixture.run(command, ['--allow-read', shared]);
    expect(shown.stdout).toMatch(/^shared\n/);
    expect(shown.stdout.match(/Read-only file system/g)).toHaveLength(3);
    expect(readFileSync(join(shared, 'a.txt'), 'utf8')).toBe('shared\n');
    expect(existsSync(join(shared, 'new'))).toBe(false);
  } finally {
    rmSync(shared, { recursive: true });
  }
});

test('--limit sets the limits in a sandbox', async () => {
  using fixture = makeFixture();
  const flags = ['--limit', 'open-files=77', '-limit=file=3m'];
  expect((await fixture.run('ulimit -n; ulimit -f', flags)).stdout).toBe('77\n3072\n');
});

describe.concurrent('package caches', () => {
  const cacheOf = (data: string, workspace: string) => join(data, 'caches', sha256(workspace).slice(0, 32));

  test('last from one sandbox to the next, and are not shared between workspaces', async () => {
    using fixture = makeFixture();
    mkdirSync(fixture.at('other'));
    await fixture.run('echo kept > ~/.cache/package');
    expect((await fixture.run('cat ~/.cache/package')).stdout).toBe('kept\n');
    expect((await fixture.run('ls -A ~/.cache', [], { at: fixture.at('other') })).stdout).not.toContain('package');
    const path = cacheOf(fixture.data, fixture.workspace);
    expect(readFileSync(join(path, 'package'), 'utf8')).toBe('kept\n');
    for (const directory of [path, fixture.data]) expect(statSync(directory).mode & 0o777).toBe(0o700);
  });

  test('are created by the first command and not before', async () => {
    using fixture = makeFixture();
    await runCroft(['tool', 'list', '--workspace', fixture.workspace], { env: { CROFT_DATA: fixture.data } });
    expect(existsSync(join(fixture.data, 'caches'))).toBe(false);
  });

  test('are closed again after a command has opened them to other users', async () => {
    using fixture = makeFixture();
    await fixture.run('chmod 777 ~/.cache');
    await fixture.run('true');
    expect(statSync(cacheOf(fixture.data, fixture.workspace)).mode & 0o777).toBe(0o700);
  });

  test.each(['caches', 'the cache'])('are never used through a link in the place of %s', async (place) => {
    using fixture = makeFixture();
    mkdirSync(fixture.at('elsewhere'), { mode: 0o755 });
    const cache = cacheOf(fixture.data, fixture.workspace);
    mkdirSync(place === 'caches' ? fixture.data : join(fixture.data, 'caches'), { recursive: true });
    symlinkSync(fixture.at('elsewhere'), place === 'caches' ? join(fixture.data, 'caches') : cache);
    const run = await fixture.run('echo ran; touch ~/.cache/here');
    expect(run).toMatchObject({ exitCode: 1, stdout: '' });
    expect(run.stderr).toMatch(/^E_SANDBOX_UNAVAILABLE: .*is a link or a file.*remove it\n/);
    expect(globSync('**', { cwd: fixture.at('elsewhere') })).toEqual(['.']);
  });

  test('that cannot be used are left out, and that is reported', async () => {
    using fixture = makeFixture();
    writeFileSync(fixture.data, 'a file');
    const run = await fixture.run('echo ran; mkdir -p ~/.cache && echo x > ~/.cache/y && echo wrote');
    expect(run).toMatchObject({ exitCode: 0, stdout: 'ran\nwrote\n' });
    expect(run.stderr).toMatch(/^croft: package caches are not kept: /m);
    expect(run.stderr).toMatch(/^croft: the history of a workspace cannot be opened: /m);
    expect(run.stderr).toMatch(/^croft: the audit trail of calls cannot be written: /m);
  });

  test.runIf(isRoot)(
    'of a server of root belong to the owner, or are left out if the owner cannot reach them',
    async () => {
      using fixture = makeFixture();
      const nobody = 65_534;
      chmodSync(fixture.path, 0o755);
      chownSync(fixture.workspace, nobody, nobody);
      const cache = cacheOf(fixture.data, fixture.workspace);
      const command = 'mkdir -p ~/.cache && echo x >> ~/.cache/y && wc -l < ~/.cache/y';
      // Toolchains of root would be closed to the owner as well.
      const run = () => fixture.run(command, [], { env: { PATH: '/usr/bin:/bin' } });
      for (const _ of ['first', 'second']) expect(await run()).toMatchObject({ stdout: '1\n', stderr: '' });
      expect(existsSync(cache)).toBe(false);

      chmodSync(fixture.data, 0o711);
      for (const lines of [1, 2]) expect(await run()).toMatchObject({ stdout: `${lines}\n`, stderr: '' });
      expect(statSync(cache)).toMatchObject({ uid: nobody, gid: nobody });
    },
  );
});

/** Of this machine: without isolation that is where they are. */
function countOf(seconds: string): number {
  return globSync('/proc/[0-9]*/cmdline').filter((file) => readIfThere(file) === `sleep\0${seconds}\0`).length;
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
