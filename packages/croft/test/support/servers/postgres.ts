import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import postgres from 'postgres';

const run = promisify(execFile);
const startMs = 60_000;
const isRoot = process.getuid?.() === 0;

export interface TestPostgres extends AsyncDisposable {
  /** Creates an empty database with a collation that is not byte order. Returns its URL. */
  createDatabase(): Promise<string>;
  /** The same, much faster: a schema in a shared database. */
  createSchema(): Promise<string>;
  /** Executes SQL in the database of `url`. */
  execute(url: string, sql: string): Promise<readonly Record<string, unknown>[]>;
  /** Kills the server as in a power cut: every connection ends without a word. */
  crash(): Promise<void>;
  start(): Promise<void>;
  /**
   * Stops the server with SIGSTOP: connections stay, the kernel accepts new ones, and nothing is answered until
   * `resume`.
   */
  hang(): void;
  resume(): void;
}

/**
 * Starts a PostgreSQL server on a free port, from Debian's packages, which root installs if needed. Returns `undefined`
 * and prints why if there is none.
 */
export async function startPostgres(): Promise<TestPostgres | undefined> {
  const programs = findPrograms() ?? (await installPrograms());
  if (programs === undefined) return undefined;
  const baseDirectory = mkdtempSync(join(tmpdir(), 'croft-test-postgres-'));
  const server = createTestServer(programs, baseDirectory, await findPort());
  try {
    await server.initialise();
    await server.start();
    return server;
  } catch (thrown) {
    await server[Symbol.asyncDispose]();
    throw thrown;
  }
}

function createTestServer(programs: string, baseDirectory: string, port: number) {
  const [data, sockets] = [join(baseDirectory, 'data'), join(baseDirectory, 'sockets')];
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

  /** Signals the first process, so that it starts no more, and then those of its connections. */
  function signalAll(signal: NodeJS.Signals): void {
    const pid = child?.pid;
    if (pid === undefined || child?.exitCode !== null || child.signalCode !== null) return;
    process.kill(pid, signal);
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
    for (const one of children) signalIfThere(Number(one), signal);
  }

  return {
    execute,
    async initialise() {
      for (const directory of [baseDirectory, sockets]) ownForServer(directory);
      const options = ['-U', 'croft', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'];
      const [program = '', ...args] = asServer(join(programs, 'initdb'), '-D', data, ...options);
      await run(program, args, { cwd: '/' });
    },
    async start() {
      const options = ['-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${sockets}`];
      // No test cuts the power, so fsync is not needed.
      const quick = ['-c', 'fsync=off', '-c', 'shared_buffers=16MB'];
      const [program = '', ...args] = asServer(join(programs, 'postgres'), '-D', data, '-p', String(port), ...options);
      child = spawn(program, [...args, ...quick], { cwd: '/', stdio: 'ignore' });
      await answersWithin(startMs, () => execute(urlOf('postgres'), 'SELECT 1'));
    },
    createDatabase,
    async createSchema() {
      shared ??= createDatabase();
      const [url, name] = [await shared, `part_${++made}`];
      await execute(url, `CREATE SCHEMA ${name}`);
      return `${url}?search_path=${name}`;
    },
    crash: () => end('SIGQUIT'),
    hang: () => signalAll('SIGSTOP'),
    resume: () => signalAll('SIGCONT'),
    async [Symbol.asyncDispose]() {
      signalAll('SIGCONT');
      await end('SIGQUIT');
      process.off('exit', killNow);
      rmSync(baseDirectory, { recursive: true, force: true });
    },
  };
}

/** A connection may end, and with it its process, after the children were listed. */
function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
  }
}

/** Does not use Vitest, so that the bench can use it too. */
async function answersWithin(ms: number, ask: () => Promise<unknown>): Promise<void> {
  for (const endsAt = performance.now() + ms; ; await pause(50)) {
    try {
      await ask();
      return;
    } catch (thrown) {
      if (performance.now() > endsAt) throw thrown;
    }
  }
}

/** PostgreSQL refuses to run as root. It ends with this process. */
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

/** Installs like `toolchains.ts`, under the same lock. */
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

/** Finds a port below the ephemeral range, so that nobody takes it before it is used, or used again. */
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
