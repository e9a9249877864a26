import { lstatSync, readlinkSync, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { AppError } from '@croft/protocol';
import type { CommandSpec, Exit, Provider, Running, Sandbox, SandboxSpec } from '../core/sandbox.ts';
import { findProgram } from '../lib/find-program.ts';
import { killGroup, spawnProgram } from '../lib/spawn.ts';

const name = 'bubblewrap';

/** Directories that hold the system's programs. Where they are links into /usr they become links again. */
const systemDirectories = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' };

/**
 * Sandboxes on this machine by Linux namespaces: a program sees the system and its workspace, both read-only,
 * and no network, no other process, no capability. A fresh one for every command.
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
      return createSandbox(program, spec);
    },
  };
}

function createSandbox(program: string, { directory, workspacePath }: SandboxSpec): Sandbox {
  const fence = [
    ...['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session'],
    ...[
      '--cap-drop',
      'ALL',
      '--clearenv',
      ...Object.entries(environment).flatMap(([key, value]) => ['--setenv', key, value]),
    ],
    ...systemDirectories.flatMap(bindSystem),
    ...['--ro-bind', directory, workspacePath, '--chdir', workspacePath],
  ];
  const owner = ownerOf(directory);
  return {
    name,
    workspacePath,
    start: (command) => start([program, ...fence, '--', ...command.argv], command, owner),
  };
}

function start(argv: [string, ...string[]], { signal }: Pick<CommandSpec, 'signal'>, owner?: Owner): Running {
  signal.throwIfAborted();
  const child = spawnProgram(argv, { env: environment, stdio: ['ignore', 'pipe', 'pipe'], owner });
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

/** A sandbox runs as the owner of its workspace, never as the root a server may run as. */
function ownerOf(directory: string): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = statSync(directory);
  return { uid, gid };
}

function bindSystem(path: string): string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return [];
  return stats.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}

function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError('E_SANDBOX_UNAVAILABLE', reason, { details: { provider: name }, cause });
}
