import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  globSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  symlinkSync,
} from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { describeSandbox, runIn, shellIn, startIn, uniqueSeconds } from '../../test/contracts/sandbox.ts';
import { makeDirectory } from '../../test/support/harness.ts';
import type { NetworkPolicy } from '../core/commands/network-policy.ts';
import type { Sandbox, SandboxSpec } from '../core/commands/sandbox.ts';
import { reportTemporaryBase } from '../lib/files/temporary-base.ts';
import { createNone } from './none.ts';

const megabyte = 1024 * 1024;
const provider = createNone({ path: process.env.PATH ?? '', home: homedir() });
const waiting = { interval: 20 };
const gone = { code: 'E_SANDBOX_UNAVAILABLE', details: { provider: 'none' } };

/** A workspace of this machine, with a function that asks for a sandbox in it. */
function makeFixture() {
  const fixture = makeDirectory();
  mkdirSync(fixture.at('workspace'));
  const path = fixture.at('workspace');
  const directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  onTestFinished(() => {
    closeSync(directory);
    fixture[Symbol.dispose]();
  });
  const spec: SandboxSpec = {
    directoryFd: directory,
    workspacePath: path,
    limits: {
      memoryBytes: 256 * megabyte,
      processes: 77,
      cpus: 2,
      fileBytes: megabyte,
      openFiles: 256,
      diskBytes: 64 * megabyte,
    },
    network: { mode: 'allow-all' },
    readable: [],
  };
  return { fixture, path, spec };
}

async function open(changed: Partial<SandboxSpec> = {}) {
  const { fixture, path, spec } = makeFixture();
  const sandbox = await provider.open({ ...spec, ...changed });
  onTestFinished(() => sandbox.close());
  return { sandbox, directory: path, fixture };
}

describeSandbox('none', open);

describe('the provider none', () => {
  test('starts commands in the real directory, which is what the model sees', async () => {
    const { sandbox, directory } = await open();
    expect(sandbox).toMatchObject({ name: 'none', workspacePath: directory, network: 'allow-all' });
    await shellIn(sandbox, 'echo here > made');
    expect(readFileSync(`${directory}/made`, 'utf8')).toBe('here\n');
  });

  test('passes the PATH, home and name of the operator, and no other variable', async () => {
    const { sandbox } = await open();
    const { stdout } = await runIn(sandbox, ['env']);
    const { username } = userInfo();
    expect(stdout.trimEnd().split('\n').sort()).toEqual([
      `HOME=${homedir()}`,
      'LC_CTYPE=C.UTF-8',
      `PATH=${process.env.PATH}`,
      'TERM=dumb',
      `TMPDIR=${sandbox.temporaryPath}`,
      `USER=${username}`,
    ]);
  });

  test('has its own temporary directory, which is removed with it', async () => {
    const { sandbox } = await open();
    const { temporaryPath } = sandbox;
    const script =
      'mktemp -d > /dev/null; mkdir $TMPDIR/shut; touch $TMPDIR/shut/x; ln -s / $TMPDIR/link; stat -c "%u %a" $TMPDIR; id -u';
    const { stdout } = await shellIn(sandbox, script);
    expect(stdout).toMatch(/^(\d+) 700\n\1\n$/);
    expect(temporaryPath.startsWith(`${reportTemporaryBase().path}/commands-`)).toBe(true);
    await sandbox.close();
    expect(existsSync(temporaryPath)).toBe(false);
  });

  test('sets the limits per process, and none that would count processes of the operator', async () => {
    const { sandbox } = await open();
    const script = 'ulimit -n; ulimit -f; ulimit -d; ulimit -c; ulimit -u';
    const [files, size, memory, cores, processes] = (await runIn(sandbox, ['bash', '-c', script])).stdout.split('\n');
    expect([files, size, memory, cores]).toEqual(['256', '1024', '262144', '0']);
    expect(processes).not.toBe('77');
  });

  test.each<NetworkPolicy>([{ mode: 'deny-all' }, { mode: 'restricted', domains: ['example.com'], cidrs: [] }])(
    'is refused with the policy $mode, which it cannot enforce, with the next step',
    async (network) => {
      const { spec } = makeFixture();
      const message = expect.stringContaining(
        `--sandbox none cannot hold the network policy ${network.mode}; add --network allow-all`,
      );
      await expect(provider.open({ ...spec, network })).rejects.toMatchObject({ ...gone, message });
    },
  );

  test('is refused when the path has become another directory', async () => {
    const { fixture, path, spec } = makeFixture();
    renameSync(path, fixture.at('moved'));
    await expect(provider.open(spec)).rejects.toMatchObject(gone);
    mkdirSync(path);
    await expect(provider.open(spec)).rejects.toMatchObject(gone);
  });

  test('is refused for a path that only the model sees', async () => {
    const { spec } = makeFixture();
    await expect(provider.open({ ...spec, workspacePath: '/workspaces/demo' })).rejects.toMatchObject(gone);
  });

  test('follows a link to the workspace, as long as it is the same directory', async () => {
    const { fixture, path, spec } = makeFixture();
    symlinkSync(path, fixture.at('link'));
    const sandbox = await provider.open({ ...spec, workspacePath: fixture.at('link') });
    onTestFinished(() => sandbox.close());
    expect((await runIn(sandbox, ['pwd'])).stdout).toBe(`${path}\n`);
  });

  test.runIf(process.getuid?.() === 0)('runs as the owner of the workspace, with the home of that user', async () => {
    const { fixture, path, spec } = makeFixture();
    chmodSync(fixture.path, 0o755);
    chownSync(path, 65_534, 65_534);
    const sandbox = await provider.open(spec);
    onTestFinished(() => sandbox.close());
    const { stdout } = await shellIn(sandbox, 'id -u; id -G; echo $HOME; echo $USER');
    expect(stdout).toMatch(/^65534\n65534\n(?!\/root)\/.*\nnobody\n$/);
  });
});

/** Two generations of processes in sessions of their own, and one plain process that ignores SIGTERM. */
const scatter = (seconds: string) =>
  `trap "" TERM HUP; setsid sh -c 'setsid sh -c "exec sleep ${seconds}" & exit' & (sleep ${seconds} &) ; sleep ${seconds}`;

/** On this machine, where commands without isolation run. */
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

async function startScattered(sandbox: Sandbox): Promise<string> {
  const seconds = uniqueSeconds();
  startIn(sandbox, ['/bin/sh', '-c', scatter(seconds)]).exit.catch(() => {});
  await vi.waitFor(() => expect(countOf(seconds)).toBe(3), waiting);
  return seconds;
}

describe('processes left behind by a sandbox without isolation', () => {
  test('end at close, whatever session or parent they moved to', async () => {
    const { sandbox } = await open();
    const seconds = await startScattered(sandbox);
    await sandbox.close();
    await vi.waitFor(() => expect(countOf(seconds)).toBe(0), waiting);
  });

  test('are told apart from those of other sandboxes', async () => {
    const [one, other] = await Promise.all([open(), open()]);
    const [ended, kept] = await Promise.all([startScattered(one.sandbox), startScattered(other.sandbox)]);
    await one.sandbox.close();
    await vi.waitFor(() => expect(countOf(ended)).toBe(0), waiting);
    expect(countOf(kept)).toBe(3);
  });
});
