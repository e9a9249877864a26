import { realpathSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '@croft/protocol';
import type { Exit, Provider, Running, Sandbox, SandboxSpec } from '../core/sandbox.ts';
import { findProgram } from '../lib/find-program.ts';
import { type ChildProcess, killGroup, spawnProgram } from '../lib/spawn.ts';

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
  const owner = ownerOf(directory);
  return {
    name,
    workspacePath,
    start({ argv, signal }) {
      const gate = ['--info-fd', '3', '--block-fd', '4'];
      const child = spawnProgram([program, ...gate, ...fence, '--', ...argv], {
        env: environment,
        stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
        directory,
        owner,
      });
      return toRunning(child, signal, openGate(child, directory, workspacePath));
    },
  };
}

/**
 * Lets the program start once its sandbox is made and shows the very directory it should: bubblewrap mounts by a
 * path, and somebody may have put another directory there meanwhile.
 */
async function openGate(child: ChildProcess, directory: string, workspacePath: string): Promise<void> {
  const [told, gate] = [child.stdio[3] as Readable | undefined, child.stdio[4] as Writable | undefined];
  if (!told || !gate) return;
  gate.on('error', () => {});
  let text = '';
  for await (const chunk of told.setEncoding('utf8')) {
    text += chunk;
    if (text.includes('}')) break;
  }
  const pid = /"child-pid": *(\d+)/.exec(text)?.[1];
  // Without one it ended before it began, and says why on its standard error.
  const shown = pid === undefined ? undefined : await whenMade(child, `/proc/${pid}/root`, workspacePath);
  if (!shown) return;
  const meant = statSync(directory);
  if (shown.dev !== meant.dev || shown.ino !== meant.ino)
    throw unavailable('the workspace was moved while it was opened');
  gate.end('.');
}

/** The workspace in a sandbox whose root is no longer ours; it waits at the gate then. `undefined` if it ended. */
async function whenMade(child: ChildProcess, root: string, workspacePath: string): Promise<Stats | undefined> {
  const ours = statSync('/');
  while (child.exitCode === null && child.signalCode === null) {
    const theirs = statSync(root, { throwIfNoEntry: false });
    const isMade = theirs && (theirs.dev !== ours.dev || theirs.ino !== ours.ino);
    const shown = isMade && statSync(root + workspacePath, { throwIfNoEntry: false });
    if (shown) return shown;
    await delay(1);
  }
  return undefined;
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
  // One that is linked statically has no libraries, which ldd counts as a failure.
  const { stdout } = await ask([ldd, file]);
  const libraries = [...stdout.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map(([, path = '']) => path);
  return [{ file, as: `/usr/bin/${program}` }, ...libraries.map((path) => ({ file: realpathSync(path), as: path }))];
}

function toRunning(child: ChildProcess, signal: AbortSignal, opened: Promise<void> = Promise.resolve()): Running {
  const { stdout, stderr } = child;
  const kill = () => killGroup(child);
  if (signal.aborted) kill();
  signal.addEventListener('abort', kill, { once: true });

  const exit = new Promise<Exit>((resolve, reject) => {
    opened.catch((thrown) => {
      kill();
      reject(AppError.is(thrown) ? thrown : unavailable('the sandbox could not be watched', thrown));
    });
    child.once('error', (cause) => reject(unavailable('the sandbox could not be started', cause)));
    child.once('close', (code, killedBy) => resolve({ code, signal: killedBy }));
  }).finally(() => signal.removeEventListener('abort', kill));
  // Whoever runs the command waits for its output first.
  exit.catch(() => {});
  if (!stdout || !stderr) throw unavailable('the sandbox could not be started');
  return { stdout, stderr, exit, kill };
}

/** For a program of ours that needs no sandbox. */
async function ask(argv: [string, ...string[]]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawnProgram(argv, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  const running = toRunning(child, AbortSignal.timeout(10_000));
  const [{ code }, ...words] = await Promise.all([
    running.exit,
    running.stdout.setEncoding('utf8').toArray(),
    running.stderr.setEncoding('utf8').toArray(),
  ]);
  return { code, stdout: words[0].join(''), stderr: words[1].join('') };
}

/** Whether this kernel lets us make such a sandbox at all. */
async function tryOut(program: string): Promise<void> {
  const fence = ['--unshare-all', '--unshare-user', '--disable-userns', '--ro-bind', '/', '/'];
  const { code, stderr } = await ask([program, ...fence, '--', '/usr/bin/true']);
  if (code !== 0) throw unavailable('bubblewrap cannot make a sandbox on this host', new Error(stderr));
}

type Owner = { readonly uid: number; readonly gid: number };

/**
 * A sandbox runs as the owner of its workspace rather than as the root a server may run as, who could not read the
 * owner's files without the privileges it gives up. Except where the owner has no way to the workspace.
 */
function ownerOf(directory: string): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = statSync(directory);
  try {
    return canReach(dirname(realpathSync(directory)), { uid, gid }) ? { uid, gid } : undefined;
  } catch {
    // Moved in this moment, and so out of anybody's reach by name.
    return undefined;
  }
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
