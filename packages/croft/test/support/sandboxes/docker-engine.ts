import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { vi } from 'vitest';
import { unmountBelow } from '../mounts.ts';
import { hasToolchains } from '../toolchains.ts';

export interface TestEngine extends AsyncDisposable {
  readonly socket: string;
  /** Environment by which `croft` finds the engine. */
  readonly environment: { readonly CROFT_DOCKER_HOST: string };
  /** Calls the API and returns its raw answer. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  ask(method: string, path: string, body?: Buffer): Promise<any>;
  /** Names of all containers, running or not. */
  containers(): Promise<string[]>;
}

/** Options that keep the engine from changing this machine's network. */
const apart = [
  '--iptables=false',
  '--ip6tables=false',
  '--bridge=none',
  '--ip-forward=false',
  '--userland-proxy=false',
];

/**
 * Starts a Docker engine of the test's own, which is removed with all its data at the end. Returns `undefined` if it
 * cannot run here, and prints why.
 */
export async function startEngine(): Promise<TestEngine | undefined> {
  if (!(await hasToolchains('docker'))) return undefined;
  const baseDirectory = mkdtempSync(join(tmpdir(), 'croft-test-docker-'));
  const [socket, log] = [join(baseDirectory, 'docker.sock'), join(baseDirectory, 'log')];
  const parent = `croft-test-${process.pid}`;
  const child = spawn(
    'sh',
    [
      ...[
        '-c',
        `exec dockerd "$@" > '${log}' 2>&1`,
        'dockerd',
        '-H',
        `unix://${socket}`,
        '-p',
        join(baseDirectory, 'pid'),
      ],
      ...[
        '--data-root',
        join(baseDirectory, 'root'),
        '--exec-root',
        join(baseDirectory, 'exec'),
        '--cgroup-parent',
        `/${parent}`,
      ],
      // The parent group has a cgroupfs name, so the driver must be cgroupfs, even where systemd manages groups.
      ...['--exec-opt', 'native.cgroupdriver=cgroupfs', ...apart],
    ],
    { stdio: 'ignore', env: { PATH: process.env.PATH ?? '' } },
  );
  const engine = toEngine(child, { baseDirectory, socket, parent });
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

interface EnginePaths {
  readonly baseDirectory: string;
  readonly socket: string;
  /** Parent control group. */
  readonly parent: string;
}

function toEngine(child: ChildProcess, { baseDirectory, socket, parent }: EnginePaths): TestEngine {
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
        // The engine ends its children and removes its mounts.
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
      unmountBelow(baseDirectory);
      rmSync(baseDirectory, { recursive: true, force: true });
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
