import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../../../../scripts/pack/staged-package.ts';
import { packAll, packForDebian } from '../../../../scripts/pack.ts';
import { findProgram } from '../../src/lib/processes/find-program.ts';
import { makeDirectory } from '../support/harness.ts';

/** `npm run test:packages`. A Docker engine is not needed: Debian's `podman` with `runc` builds and runs the same recipe. */
const needed = ['podman', 'runc', 'debootstrap', 'dpkg-deb'];
const missing = needed.filter((name) => findProgram(name) === undefined);
const isWanted = process.env.CROFT_PACKAGES !== undefined && process.getuid?.() === 0;
if (isWanted && missing.length > 0) console.warn(`SKIPPED: the image is not built, without ${missing.join(', ')}`);

/** What a container host without control groups version 2, or with low limits of its own, can do. */
const settings = `[containers]
default_ulimits = ["nofile=20000:20000", "nproc=8192:8192"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
`;
/** The recipe's base, which registries have. Here it is made of Debian's packages. */
const base = 'localhost/debian:trixie-slim';
const unconfined = ['seccomp=unconfined', 'apparmor=unconfined', 'systempaths=unconfined'];

describe.skipIf(!isWanted || missing.length > 0)('the image of deploy/Dockerfile', () => {
  const directory = makeDirectory();
  const { at } = directory;

  beforeAll(async () => {
    writeFileSync(at('containers.conf'), settings);
    run(['debootstrap', '--variant=minbase', 'trixie', at('tree')]);
    // The slim image has neither.
    for (const path of ['var/cache/apt', 'usr/share/doc', 'usr/share/man', 'usr/share/locale'])
      run(['rm', '-rf', at(`tree/${path}`)]);
    mkdirSync(at('tree/var/cache/apt/archives/partial'), { recursive: true });
    run(['tar', '-C', at('tree'), '-cf', at('tree.tar'), '.']);
    podman('import', at('tree.tar'), base);
    const { tarballs } = await packAll(at('tarballs'));
    mkdirSync(at('context/packs'), { recursive: true });
    for (const file of packForDebian(tarballs, at('context/packs'))) expect(file).toContain('.deb');
    cpSync(join(root, 'deploy/Dockerfile'), at('context/Dockerfile'));
    podman('build', '--network', 'host', '--format', 'docker', '-t', 'croft', at('context'));
    const options = unconfined.flatMap((option) => ['--security-opt', option]);
    podman('run', '-d', '--name', 'croft', '--network', 'none', ...options, 'croft');
  }, 900_000);
  afterAll(() => {
    if (missing.length === 0 && isWanted) podman('rm', '-f', 'croft');
    directory[Symbol.dispose]();
  });

  function run([program = '', ...args]: readonly string[]): string {
    const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: directory.path, CONTAINERS_CONF: at('containers.conf') };
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env, maxBuffer: 64 * 1024 * 1024 });
    expect(status, `${program} ${args.join(' ')}: ${stdout.slice(-3000)}${stderr.slice(-3000)}`).toBe(0);
    return stdout;
  }
  const podman = (...args: readonly string[]) =>
    run(['podman', '--root', at('images'), '--runroot', at('run'), ...args]);
  const inside = (...argv: readonly string[]) => podman('exec', 'croft', ...argv);
  const node = (script: string) => inside('/usr/lib/croft/bin/node', '--input-type=module', '-e', script);

  test('serves, not as root, and its health check says so', async () => {
    const isHealthy = () => podman('healthcheck', 'run', 'croft');
    for (let attempt = 0; attempt < 60; attempt++) {
      if (podman('logs', 'croft').includes('croft listening')) break;
      await pause(500);
    }
    isHealthy();
    expect(inside('id', '-u')).toBe('10001\n');
    const processes = podman('top', 'croft', 'user', 'pid', 'args').split('\n').slice(1, -1);
    for (const line of processes) expect(line).toMatch(/^croft /);
    expect(processes[0]).toMatch(/^croft +1 +\S*croft-init --first /);
  });

  test('runs a command in a sandbox, through a call of its server', () => {
    const answer = JSON.parse(
      node(`import { readFileSync } from 'node:fs';
        const answer = await fetch('http://127.0.0.1:7070/v1/agents/flags/tools/bash', {
          method: 'POST', body: JSON.stringify({ command: 'id -u; grep Seccomp: /proc/self/status; echo made > made; cat made' }),
          headers: { authorization: 'Bearer ' + readFileSync('/var/lib/croft/token', 'utf8').trim(), 'content-type': 'application/json' },
        });
        console.log(JSON.stringify(await answer.json()));`),
    );
    expect(answer).toMatchObject({ exitCode: 0, output: expect.stringMatching(/^\d+\nSeccomp:\t2\nmade\n$/) });
    expect(answer.output.startsWith('0\n')).toBe(false);
    expect(inside('croft', 'doctor', '--prove', 'A1', 'B27')).toContain('2 attempts: 2 held, 0 got out');
  });

  test('is no larger than Node, git and the packages make it', () => {
    const sizeOf = (name: string) => Number(podman('image', 'inspect', '--format', '{{.Size}}', name)) / 1_000_000;
    expect(sizeOf('croft') - sizeOf(base)).toBeLessThan(500);
  });

  test('ends at once when it is told to stop', () => {
    const startedAt = performance.now();
    podman('stop', '--time', '30', 'croft');
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(podman('inspect', '--format', '{{.State.ExitCode}}', 'croft')).toBe('0\n');
  });
});
