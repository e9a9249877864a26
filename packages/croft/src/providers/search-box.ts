import { realpathSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { AppError } from '@croft/protocol';
import type { SearchBox, SearchBoxProvider, SearchBoxSpec, SearchExit, Searching } from '../core/content/search-box.ts';
import { findProgram } from '../lib/find-program.ts';
import { type ChildProcess, killGroup, killProcess, spawnProgram } from '../lib/spawn.ts';
import { ownerOf } from '../lib/workspace-owner.ts';

const name = 'bubblewrap';
const environment = { PATH: '/usr/bin', LANG: 'C.UTF-8' };

/**
 * Sandboxes on this machine by Linux namespaces: a program sees its workspace, read-only, itself and the libraries
 * it needs, and no network, no other process, no capability. A fresh one for every command.
 */
export function createSearchBoxes(): SearchBoxProvider {
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

function createSandbox(
  program: string,
  { directory, workspacePath }: SearchBoxSpec,
  shown: readonly Shown[],
): SearchBox {
  const fence = [
    ...['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session'],
    ...['--cap-drop', 'ALL', '--clearenv'],
    ...Object.entries(environment).flatMap(([key, value]) => ['--setenv', key, value]),
    ...shown.flatMap(({ file, as }) => ['--ro-bind', file, as]),
    // By the handle itself; bubblewrap makes sure that this is what it mounted.
    ...['--ro-bind-fd', '3', workspacePath, '--remount-ro', '/', '--chdir', workspacePath],
  ];
  const owner = findOwner(directory);
  return {
    name,
    workspacePath,
    start({ argv, signal }) {
      const stdio = ['ignore', 'pipe', 'pipe', directory, 'pipe'] as const;
      const child = spawnProgram([program, '--info-fd', '4', ...fence, '--', ...argv], {
        env: environment,
        stdio,
        owner,
      });
      return toRunning(child, signal, createKiller(child));
    },
  };
}

/** Goes by the names above the directory, which another may change meanwhile. */
function findOwner(directory: number) {
  try {
    return ownerOf(directory);
  } catch (cause) {
    throw unavailable('the workspace was moved just now', cause);
  }
}

/**
 * Ends the first process of the sandbox, and with it all of them. To end bubblewrap itself could be too early for it to
 * have tied the sandbox to its own life; so the end waits for the moment in which it tells who the first process is.
 */
function createKiller(child: ChildProcess): () => void {
  let [text, isWanted] = ['', false];
  const killIfKnown = () => {
    const pid = /"child-pid": *(\d+)/.exec(text)?.[1];
    if (!isWanted || pid === undefined || child.exitCode !== null) return;
    killProcess(Number(pid));
    killGroup(child);
  };
  const told = child.stdio?.[4] as Readable | undefined;
  told?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    killIfKnown();
  });
  told?.on('error', () => {});
  return () => {
    isWanted = true;
    killIfKnown();
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
  // One that is linked statically has no libraries, which ldd counts as a failure.
  const { stdout } = await ask([ldd, file]);
  const libraries = [...stdout.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map(([, path = '']) => path);
  return [{ file, as: `/usr/bin/${program}` }, ...libraries.map((path) => ({ file: realpathSync(path), as: path }))];
}

function toRunning(child: ChildProcess, signal: AbortSignal, kill = () => killGroup(child)): Searching {
  const { stdout, stderr } = child;
  if (signal.aborted) kill();
  signal.addEventListener('abort', kill, { once: true });

  const exit = new Promise<SearchExit>((resolve, reject) => {
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
  const { stdout } = await ask([program, '--help']);
  if (!stdout.includes('--ro-bind-fd')) throw unavailable('this bubblewrap is too old: it has no --ro-bind-fd');
}

function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError('E_SANDBOX_UNAVAILABLE', reason, { details: { provider: name }, cause });
}
