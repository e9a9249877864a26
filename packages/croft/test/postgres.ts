import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, existsSync, globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { vi } from 'vitest';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;

export interface TestPostgres extends AsyncDisposable {
  /** An empty one, whose own order of texts is not that of their bytes. Answers its URL. */
  createDatabase(): Promise<string>;
  /** The same much faster: a part of a database that all such share. */
  createSchema(): Promise<string>;
  /** Any SQL, in the database of `url`. */
  execute(url: string, sql: string): Promise<readonly Record<string, unknown>[]>;
  /** As in a power cut: every connection ends without a word. */
  crash(): Promise<void>;
  start(): Promise<void>;
}

/** A server of its own on a free port, from Debian's packages, which root gets if need be. `undefined`: it is said why. */
export async function startPostgres(): Promise<TestPostgres | undefined> {
  const programs = findPrograms() ?? (await installPrograms());
  if (programs === undefined) return undefined;
  const ground = mkdtempSync(join(tmpdir(), 'croft-test-postgres-'));
  const server = createTestServer(programs, ground, await findPort());
  try {
    await server.initialise();
    await server.start();
    return server;
  } catch (thrown) {
    await server[Symbol.asyncDispose]();
    throw thrown;
  }
}

function createTestServer(programs: string, ground: string, port: number) {
  const [data, sockets] = [join(ground, 'data'), join(ground, 'sockets')];
  const urlOf = (database: string) => `postgres://croft:secret-of-the-url@127.0.0.1:${port}/${database}`;
  let child: ChildProcess | undefined;
  let made = 0;
  let shared: Promise<string> | undefined;
  const killNow = () => child?.kill('SIGKILL');
  process.once('exit', killNow);

  async function execute(url: string, sql: string) {
    const connection = postgres(url, { max: 1, onnotice: () => {}, connect_timeout: 30 });
    try {
      return await connection.unsafe(sql);
    } finally {
      await connection.end({ timeout: 5 });
    }
  }

  async function createDatabase(): Promise<string> {
    const name = `test_${++made}`;
    const order = "LOCALE_PROVIDER icu ICU_LOCALE 'en'";
    await execute(urlOf('postgres'), `CREATE DATABASE ${name} TEMPLATE template0 ${order}`);
    return urlOf(name);
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  return {
    execute,
    async initialise() {
      for (const directory of [ground, sockets]) ownForServer(directory);
      const options = ['-U', 'croft', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'];
      const [program = '', ...args] = asServer(join(programs, 'initdb'), '-D', data, ...options);
      await run(program, args, { cwd: '/' });
    },
    async start() {
      const options = ['-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${sockets}`];
      // No test cuts the power, and what the system has in memory outlives any process.
      const quick = ['-c', 'fsync=off', '-c', 'shared_buffers=16MB'];
      const [program = '', ...args] = asServer(join(programs, 'postgres'), '-D', data, '-p', String(port), ...options);
      child = spawn(program, [...args, ...quick], { cwd: '/', stdio: 'ignore' });
      await vi.waitFor(() => execute(urlOf('postgres'), 'SELECT 1'), { interval: 50 });
    },
    createDatabase,
    async createSchema() {
      shared ??= createDatabase();
      const [url, name] = [await shared, `part_${++made}`];
      await execute(url, `CREATE SCHEMA ${name}`);
      return `${url}?search_path=${name}`;
    },
    crash: () => end('SIGQUIT'),
    async [Symbol.asyncDispose]() {
      await end('SIGQUIT');
      process.off('exit', killNow);
      rmSync(ground, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL does not run as root, and goes with this process whatever becomes of it. */
function asServer(...command: readonly string[]): string[] {
  const user = isRoot ? [`--reuid=${serverUser().uid}`, `--regid=${serverUser().gid}`, '--clear-groups'] : [];
  return ['setpriv', ...user, '--pdeathsig=QUIT', '--', ...command];
}

function ownForServer(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (isRoot) chownSync(directory, serverUser().uid, serverUser().gid);
}

function serverUser(): { uid: number; gid: number } {
  const idOf = (kind: string) => Number(execFileSync('id', [kind, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

function findPrograms(): string | undefined {
  const versionOf = (path: string) => Number(path.split('/').at(-2));
  return globSync('/usr/lib/postgresql/*/bin')
    .filter((path) => ['initdb', 'postgres'].every((program) => existsSync(join(path, program))))
    .sort((a, b) => versionOf(b) - versionOf(a))[0];
}

/** As `toolchains.ts` does it, and one after the other with it. */
async function installPrograms(): Promise<string | undefined> {
  const isPossible = isRoot && existsSync('/etc/debian_version');
  if (isPossible) console.warn('installing postgresql');
  const trouble = isPossible ? await aptInstall().catch(String) : 'not root on Debian';
  const programs = findPrograms();
  if (programs === undefined) console.warn(`SKIPPED, because PostgreSQL is not there: ${trouble}`);
  return programs;
}

async function aptInstall(): Promise<string> {
  const lock = join(tmpdir(), 'croft-test-apt.lock');
  const get = ['timeout', '150', 'apt-get', '-y', '-o', 'DPkg::Lock::Timeout=120'];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args: readonly string[]) => run('flock', ['--timeout', '300', lock, ...get, ...args], { env });
  const install = () => apt('install', '--no-install-recommends', 'postgresql');
  await install().catch(async () => {
    await apt('update');
    await install();
  });
  return '';
}

/** Below those that the kernel gives away, so that nobody has taken it by the time it is used, or used again. */
async function findPort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.close();
    if (isFree) return port;
  }
}
