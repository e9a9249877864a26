import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { AppError } from '@croft/protocol';
import type { CommandSpec, Exit, Provider, Running, Sandbox, SandboxSpec } from '../core/sandbox.ts';
import { findProgram } from '../lib/find-program.ts';
import { killGroup, spawnProgram } from '../lib/spawn.ts';

const name = 'bubblewrap';
const environment = { PATH: '/usr/bin', LANG: 'C.UTF-8' };

/**
 * Sandboxes on this machine by Linux namespaces: a program sees its workspace, read-only, itself and the libraries
 * it needs, and no network, no other process, no capability. A fresh one for every command.
 */
export function createBubblewrap(): Provider {
  let isProven = false;
  return {
    name,
    async open(spec) {
      const program = findProgram('bwrap');
      if (!program) throw unavailable('bubblewrap (bwrap) is not installed');
      if (!isProven) await tryOut(program);
      isProven = true;
      return createSandbox(program, spec, await findAll(spec.programs));
    },
  };
}

function createSandbox(program: string, { directory, workspacePath }: SandboxSpec, shown: readonly Shown[]): Sandbox {
  const fence = [
    ...['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session'],
    ...['--cap-drop', 'ALL', '--clearenv'],
    ...Object.entries(environment).flatMap(([key, value]) => ['--setenv', key, value]),
    ...shown.flatMap(({ file, as }) => ['--ro-bind', file, as]),
    // From where it was started: a name could have come to mean something else.
    ...['--ro-bind', '.', workspacePath, '--remount-ro', '/', '--chdir', workspacePath],
  ];
  const place = { directory, owner: ownerOf(directory) };
  return {
    name,
    workspacePath,
    start: (command) => start([program, ...fence, '--', ...command.argv], command, place),
  };
}

interface Shown {
  readonly file: string;
  readonly as: string;
}

/** The programs, each with the libraries that its loader would look for. */
async function findAll(programs: readonly string[]): Promise<Shown[]> {
  const found = await Promise.all(programs.map(findWithLibraries));
  return [...new Map(found.flat().map((shown) => [shown.as, shown])).values()];
}

async function findWithLibraries(program: string): Promise<Shown[]> {
  const file = findProgram(program);
  const ldd = findProgram('ldd');
  if (!file || !ldd) throw unavailable(`${file ? 'ldd' : program} is not installed`);
  const listing = start([ldd, file], { signal: AbortSignal.timeout(10_000) });
  listing.stderr.resume();
  // One that is linked statically has no libraries, which ldd counts as a failure.
  const words = await listing.stdout.setEncoding('utf8').toArray();
  await listing.exit;
  const libraries = [...words.join('').matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map(([, path = '']) => path);
  return [{ file, as: `/usr/bin/${program}` }, ...libraries.map((path) => ({ file: realpathSync(path), as: path }))];
}

interface Place {
  readonly directory: string;
  readonly owner: Owner | undefined;
}

function start(argv: [string, ...string[]], { signal }: Pick<CommandSpec, 'signal'>, place?: Place): Running {
  signal.throwIfAborted();
  const child = spawnProgram(argv, { env: environment, stdio: ['ignore', 'pipe', 'pipe'], ...place });
  const kill = () => killGroup(child);
  signal.addEventListener('abort', kill, { once: true });

  const exit = new Promise<Exit>((resolve, reject) => {
    child.once('error', (cause) => reject(unavailable('the sandbox could not be started', cause)));
    child.once('close', (code, killedBy) => resolve({ code, signal: killedBy }));
  }).finally(() => signal.removeEventListener('abort', kill));
  return { stdout: child.stdout as Readable, stderr: child.stderr as Readable, exit, kill };
}

/** Whether this kernel lets us make such a sandbox at all. */
async function tryOut(program: string): Promise<void> {
  const argv: [string, ...string[]] = [
    program,
    '--unshare-all',
    '--unshare-user',
    '--disable-userns',
    '--ro-bind',
    '/',
    '/',
  ];
  const trial = start([...argv, '--', '/usr/bin/true'], { signal: AbortSignal.timeout(10_000) });
  trial.stdout.resume();
  const [{ code }, words] = await Promise.all([trial.exit, trial.stderr.setEncoding('utf8').toArray()]);
  if (code !== 0) throw unavailable('bubblewrap cannot make a sandbox on this host', new Error(words.join('')));
}

type Owner = { readonly uid: number; readonly gid: number };

/**
 * A sandbox runs as the owner of its workspace rather than as the root a server may run as, who could not read the
 * owner's files without the privileges it gives up. Except where the owner has no way to the workspace.
 */
function ownerOf(directory: string): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = statSync(directory);
  return canReach(dirname(realpathSync(directory)), { uid, gid }) ? { uid, gid } : undefined;
}

function canReach(directory: string, owner: Owner): boolean {
  const { mode, uid, gid } = statSync(directory);
  const bit = uid === owner.uid ? 0o100 : gid === owner.gid ? 0o010 : 0o001;
  if (owner.uid !== 0 && (mode & bit) === 0) return false;
  return directory === '/' || canReach(dirname(directory), owner);
}

function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError('E_SANDBOX_UNAVAILABLE', reason, { details: { provider: name }, cause });
}
