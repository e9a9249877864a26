import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { vi } from 'vitest';
import { unmountBelow } from './mounts.ts';
import { hasToolchains } from './toolchains.ts';

export interface TestEngine extends AsyncDisposable {
  readonly socket: string;
  /** For `croft`, to find it by. */
  readonly environment: { readonly CROFT_DOCKER_HOST: string };
  /** What the API answers, as it is. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  ask(method: string, path: string, body?: Buffer): Promise<any>;
  /** Names of all containers, whatever they do. */
  containers(): Promise<string[]>;
}

/** Nothing of this machine's network, and none of its names. */
const apart = [
  '--iptables=false',
  '--ip6tables=false',
  '--bridge=none',
  '--ip-forward=false',
  '--userland-proxy=false',
];

/** A Docker of its own, which is gone with all it kept at the end. `undefined`: it cannot run here, and it is said why. */
export async function startEngine(): Promise<TestEngine | undefined> {
  if (!(await hasToolchains('docker'))) return undefined;
  const ground = mkdtempSync(join(tmpdir(), 'croft-test-docker-'));
  const [socket, log] = [join(ground, 'docker.sock'), join(ground, 'log')];
  const parent = `croft-test-${process.pid}`;
  const child = spawn(
    'sh',
    [
      ...['-c', `exec dockerd "$@" > '${log}' 2>&1`, 'dockerd', '-H', `unix://${socket}`, '-p', join(ground, 'pid')],
      ...['--data-root', join(ground, 'root'), '--exec-root', join(ground, 'exec'), '--cgroup-parent', `/${parent}`],
      // As is the name of the group, also on a machine where others make them.
      ...['--exec-opt', 'native.cgroupdriver=cgroupfs', ...apart],
    ],
    { stdio: 'ignore', env: { PATH: process.env.PATH ?? '' } },
  );
  const engine = toEngine(child, { ground, socket, parent });
  const isUp = vi.waitFor(
    async () => {
      if (child.exitCode !== null) return false;
      await engine.ask('GET', '/_ping');
      return true;
    },
    { interval: 50 },
  );
  if (await isUp.catch(() => false)) return engine;
  console.warn(`SKIPPED, because Docker does not start here: ${readFileSync(log, 'utf8').slice(-500)}`);
  await engine[Symbol.asyncDispose]();
  return undefined;
}

interface Places {
  readonly ground: string;
  readonly socket: string;
  /** Of the control groups. */
  readonly parent: string;
}

function toEngine(child: ChildProcess, { ground, socket, parent }: Places): TestEngine {
  const killNow = () => child.kill('SIGKILL');
  process.once('exit', killNow);
  const ask: TestEngine['ask'] = (method, path, body) => askEngine(socket, method, path, body);
  return {
    ...{ socket, environment: { CROFT_DOCKER_HOST: `unix://${socket}` }, ask },
    async containers() {
      const found: { Names: string[] }[] = await ask('GET', '/containers/json?all=1');
      return found.flatMap(({ Names }) => Names);
    },
    async [Symbol.asyncDispose]() {
      process.off('exit', killNow);
      if (child.exitCode === null && child.signalCode === null) {
        // It ends what it started, and takes its mounts away.
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
      unmountBelow(ground);
      rmSync(ground, { recursive: true, force: true });
      for (const left of globSync([`/sys/fs/cgroup/${parent}`, `/sys/fs/cgroup/*/${parent}`])) rmdirSync(left);
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: as for `ask`.
async function askEngine(socketPath: string, method: string, path: string, body?: Buffer): Promise<any> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  request({ socketPath, method, path }, (answer) => void text(answer).then(resolve, reject))
    .on('error', reject)
    .end(body);
  const words = await promise;
  return words.startsWith('{') || words.startsWith('[') ? JSON.parse(words) : words;
}
