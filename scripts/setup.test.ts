import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test, vi } from 'vitest';
// @ts-expect-error Plain JavaScript: it runs before there is anything to check types with.
import { explain, fingerprint, installHint, isAlive, missingTools, runWithRetries, takeLock } from './setup.mjs';

const scratch = fs.mkdtempSync(join(tmpdir(), 'croft-setup-'));
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }));

const newFolder = () => fs.mkdtempSync(join(scratch, 'case-'));
const readLines = (file: string) => fs.readFileSync(file, 'utf8').trim().split('\n');

/**
 * A clone that real npm sets up within a second and without a network: its only dependency is a stand-in for
 * the `node` package. Not this repository, where a stale stamp would replace the packages these tests run on.
 */
function createClone(): string {
  const clone = newFolder();
  const files = {
    'package.json': '{ "name": "clone", "devDependencies": { "node": "file:stand-in" } }',
    'package-lock.json': JSON.stringify({
      name: 'clone',
      lockfileVersion: 3,
      packages: {
        '': { name: 'clone', devDependencies: { node: 'file:stand-in' } },
        'node_modules/node': { resolved: 'stand-in', link: true },
        'stand-in': { name: 'node', version: '24.0.0', dev: true, bin: { node: 'bin/node' } },
      },
    }),
    'packages/one/package.json': '{ "name": "one" }',
    'stand-in/package.json': '{ "name": "node", "version": "24.0.0", "bin": { "node": "bin/node" } }',
    'stand-in/bin/node': '#!/bin/sh\necho v24.0.0\n',
    'scripts/setup.mjs': fs.readFileSync(join(import.meta.dirname, 'setup.mjs')),
    'packages/croft/bin/bundle.mjs': fs.readFileSync(join(import.meta.dirname, '../packages/croft/bin/bundle.mjs')),
    'packages/croft/native/compile.mjs': fs.readFileSync(
      join(import.meta.dirname, '../packages/croft/native/compile.mjs'),
    ),
  };
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(join(clone, name, '..'), { recursive: true });
    fs.writeFileSync(join(clone, name), content, { mode: 0o755 });
  }
  return clone;
}

function startSetup(clone: string, env: NodeJS.ProcessEnv = {}) {
  const argv = [join(clone, 'scripts/setup.mjs')];
  return spawn(process.execPath, argv, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function runSetup(clone: string, env?: NodeJS.ProcessEnv) {
  const child = startSetup(clone, env);
  const ended = once(child, 'close');
  const [stdout, stderr, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { exitCode, stdout, stderr };
}

describe.concurrent('set-up of a clone', () => {
  test('runs npm once, and then not until a manifest changes', async () => {
    const clone = createClone();
    const first = await runSetup(clone);
    expect(first).toMatchObject({ exitCode: 0, stdout: '', stderr: expect.stringContaining('ready in') });

    const second = await runSetup(clone, { PATH: '/nonexistent' });
    expect(second).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });

    fs.appendFileSync(join(clone, 'packages/one/package.json'), '\n');
    expect((await runSetup(clone)).stderr).toContain('ready in');
  });

  test('is done by one of three that start together', async () => {
    const clone = createClone();
    const runs = await Promise.all([runSetup(clone), runSetup(clone), runSetup(clone)]);
    expect(runs.map((run) => run.exitCode)).toEqual([0, 0, 0]);
    expect(runs.filter((run) => run.stderr.includes('installing'))).toHaveLength(1);
  });

  test('without a lock file keeps what npm left, unless an earlier set-up was cut short', async () => {
    const [byHand, cutShort] = [createClone(), createClone()];
    for (const clone of [byHand, cutShort]) {
      fs.rmSync(join(clone, 'package-lock.json'));
      fs.mkdirSync(join(clone, 'node_modules'));
      fs.writeFileSync(join(clone, 'node_modules/.trace'), '');
    }
    fs.mkdirSync(join(cutShort, '.setup'));
    fs.writeFileSync(join(cutShort, '.setup/unfinished'), '');
    await Promise.all([runSetup(byHand), runSetup(cutShort)]);
    expect(fs.existsSync(join(byHand, 'node_modules/.trace'))).toBe(true);
    expect(fs.existsSync(join(cutShort, 'node_modules/.trace'))).toBe(false);
    expect(fs.existsSync(join(byHand, 'package-lock.json'))).toBe(false);
  });

  test('explains itself and exits with 1 when npm cannot run', async () => {
    const { exitCode, stderr } = await runSetup(createClone(), { PATH: '/nonexistent' });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/could not be started \(ENOENT\), 3 times.*npm run setup/s);
  });

  test('says in a few lines what to install when the compiler lacks the C library', async () => {
    const clone = createClone();
    fs.mkdirSync(join(clone, 'packages/croft/native/init'), { recursive: true });
    for (let nth = 0; nth < 20; nth++)
      fs.writeFileSync(join(clone, `packages/croft/native/init/${nth}.c`), '#include <no-such-header.h>\n');
    const { exitCode, stderr } = await runSetup(clone);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/the init of sandboxes did not compile:\n.*no-such-header.*Next: .*install/s);
    expect(stderr.split('\n').length).toBeLessThan(15);
  });

  test('takes npm down with it when told to end', async () => {
    const clone = createClone();
    fs.writeFileSync(join(clone, 'npm'), '#!/bin/sh\nsleep 60 &\necho $! > pid.new\nmv pid.new pid\nwait\n', {
      mode: 0o755,
    });
    const setup = startSetup(clone, { PATH: `${clone}:${process.env.PATH}` });
    await vi.waitUntil(() => fs.existsSync(join(clone, 'pid')));
    setup.kill('SIGTERM');
    expect((await once(setup, 'close'))[0]).toBe(143);
    await vi.waitUntil(() => !isAlive(Number(readLines(join(clone, 'pid'))[0])));
  });
});

describe.concurrent('runWithRetries', () => {
  test('kills a stalled program with its grandchildren, tries again and tells its last output', async () => {
    const cwd = newFolder();
    const argv = ['sh', '-c', 'trap "" TERM; sleep 60 & echo $! >> pids; echo still working; wait'];
    const options = { cwd, tries: 2, deadlineMs: 1000, pauseMs: 0, logFile: join(cwd, 'log') };
    const result = await runWithRetries(argv, options);
    expect(result).toMatchObject({ attempt: 2, failure: 'did not finish in 1 s', output: 'still working\n' });
    const grandchildren = readLines(join(cwd, 'pids')).map(Number);
    expect(grandchildren).toHaveLength(2);
    await vi.waitUntil(() => !grandchildren.some(isAlive));
    expect(explain('no packages', result)).toMatch(
      /no packages.*did not finish in 1 s, 2 times.*still working.*Next:/s,
    );
  });

  test('kills a real sleep at a deadline of 200 ms', async () => {
    const logFile = join(newFolder(), 'log');
    const result = await runWithRetries(['sleep', '600'], { tries: 3, deadlineMs: 200, pauseMs: 0, logFile });
    expect(result).toMatchObject({ attempt: 3, failure: 'did not finish in 0.2 s' });
  });

  test('stops at the first success', async () => {
    const cwd = newFolder();
    const argv = ['sh', '-c', 'echo x >> tries; [ "$(wc -l < tries)" -eq 2 ]'];
    const result = await runWithRetries(argv, { cwd, deadlineMs: 60_000, pauseMs: 0, logFile: join(cwd, 'log') });
    expect(result).toMatchObject({ attempt: 2, failure: undefined });
  });

  test('does not repeat a final failure', async () => {
    const isFinal = (output: string) => output.includes('hopeless');
    const options = { deadlineMs: 60_000, pauseMs: 0, logFile: join(newFolder(), 'log'), isFinal };
    const result = await runWithRetries(['sh', '-c', 'echo hopeless; exit 7'], options);
    expect(result).toMatchObject({ attempt: 1, failure: 'ended with code 7' });
  });
});

describe('takeLock', () => {
  const deadPid = () => spawnSync('true').pid;

  test('makes the next one wait until it is released', async () => {
    const folder = newFolder();
    const lock = await takeLock(folder);
    await expect(takeLock(folder, { waitMs: -1 })).rejects.toThrow(`process ${process.pid} still holds`);
    lock.release();
    (await takeLock(folder, { waitMs: -1 })).release();
  });

  test('takes over from a dead owner', async () => {
    const folder = newFolder();
    fs.mkdirSync(join(folder, 'lock'));
    fs.writeFileSync(join(folder, 'lock', `${deadPid()}-gone`), '');
    await takeLock(folder);
    expect(fs.readdirSync(join(folder, 'lock'))).toEqual([expect.stringMatching(`^${process.pid}-`)]);
  });

  test('waits for the orphan of a dead owner', async () => {
    const folder = newFolder();
    const orphan = spawn('sleep', ['60']);
    fs.mkdirSync(join(folder, 'lock'));
    fs.writeFileSync(join(folder, 'lock', `${deadPid()}-gone`), String(orphan.pid));
    await expect(takeLock(folder, { waitMs: -1 })).rejects.toThrow(`process ${orphan.pid} still holds`);
    orphan.kill();
    await once(orphan, 'exit');
    await takeLock(folder);
  });
});

describe('system tools', () => {
  const all = ['rg', 'bwrap', 'cc', 'git'];

  test.each([
    ['debian', 'ID=debian', 'sudo apt-get install -y ripgrep bubblewrap gcc libc6-dev git'],
    [
      'a derivative of ubuntu',
      'ID=pop\nID_LIKE="ubuntu debian"',
      'sudo apt-get install -y ripgrep bubblewrap gcc libc6-dev git',
    ],
    ['fedora', 'NAME="Fedora Linux"\nID=fedora', 'sudo dnf install -y ripgrep bubblewrap gcc glibc-static git'],
    ['arch', 'ID=arch', 'sudo pacman -S --needed ripgrep bubblewrap gcc git'],
    ['alpine', 'ID=alpine', 'sudo apk add ripgrep bubblewrap gcc musl-dev linux-headers git'],
    ['an unknown system', 'ID=other', 'your package manager: ripgrep bubblewrap gcc git'],
  ])('have a one-line hint on %s', (_name, osRelease, command) => {
    const what = 'missing ripgrep (rg), bubblewrap (bwrap), gcc (cc), and git; install them with:';
    expect(installHint(osRelease, all, { platform: 'linux' })).toBe(`${what} ${command}`);
  });

  test('need no sudo for root, nor on macOS', () => {
    expect(installHint('ID=alpine', ['rg'], { platform: 'linux', isRoot: true })).toMatch(
      /install it with: apk add ripgrep$/,
    );
    expect(installHint('', ['rg'], { platform: 'darwin' })).toBe(
      'missing ripgrep (rg); install it with: brew install ripgrep',
    );
  });

  test('are those the lookup does not find, without bubblewrap outside Linux', () => {
    expect(missingTools((command: string) => command === 'git', 'linux')).toEqual(['rg', 'bwrap', 'cc']);
    expect(missingTools(() => undefined, 'darwin')).toEqual(['rg', 'cc', 'git']);
  });
});

test.each(['package.json', 'package-lock.json', 'packages/one/package.json'])('the fingerprint covers %s', (file) => {
  const clone = createClone();
  const before = fingerprint(clone);
  expect(fingerprint(clone)).toBe(before);
  fs.appendFileSync(join(clone, file), '\n');
  expect(fingerprint(clone)).not.toBe(before);
});
