import { once } from 'node:events';
import { existsSync, fstatSync, readFileSync, statSync } from 'node:fs';
import type { Duplex, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { AppError } from '@croft/protocol';
import type { Provider, Sandbox, SandboxLimits, SandboxSpec } from '../core/commands/sandbox.ts';
import { characters } from '../host/environment.ts';
import { createInitFinder } from '../init/binary.ts';
import { connectInit } from '../init/client.ts';
import { type ChildProcess, killGroup, spawnProgram } from '../lib/spawn.ts';
import { ownerOf } from '../lib/workspace-owner.ts';

export interface NoneOptions {
  /** The operator's own, as commands get them. */
  readonly path: string;
  readonly home: string;
}

const name = 'none';
/** Longer than the init ever takes to end what it started. */
const goneWithinMs = 5000;

/**
 * No isolation: commands run on this machine, where an operator asked for that by name. The same init starts them, so
 * that streams, terminals, signals and ends are those of every other sandbox.
 */
export function createNone({ path, home }: NoneOptions): Provider {
  const findInit = createInitFinder();
  return {
    name,
    async open(spec) {
      checkPolicy(spec);
      checkPlace(spec);
      const owner = ownerOf(spec.directory);
      const child = spawnProgram([findInit()], { env: {}, stdio: ['ignore', 'ignore', 'pipe', 'pipe'], owner });
      return openSandbox(child, spec, toEnvironment({ path, home }, owner?.uid));
    },
  };
}

/** A policy that nothing here can hold is refused, and never held a little. */
function checkPolicy({ network: { mode } }: SandboxSpec): void {
  if (mode === 'allow-all') return;
  // What a record asks for is narrowed by its server.
  if (mode === 'public')
    throw unavailable(
      'without isolation (none) nothing can be kept from the network of the machine, and a server that gives accounts no ' +
        'more than what is public does not give them that: croft serve --network allow-all does',
    );
  throw unavailable(
    `--sandbox none cannot hold the network policy ${mode}; add --network allow-all, or leave --sandbox none out`,
  );
}

/** Commands are started by the path, so it must be what the handle is. */
function checkPlace({ directory, workspacePath }: SandboxSpec): void {
  const [held, named] = [fstatSync(directory), statSync(workspacePath, { throwIfNoEntry: false })];
  if (held.dev === named?.dev && held.ino === named.ino) return;
  throw unavailable(`${workspacePath} is not the directory of the workspace any more; start croft again`);
}

async function openSandbox(
  child: ChildProcess,
  spec: SandboxSpec,
  environment: Readonly<Record<string, string>>,
): Promise<Sandbox> {
  await once(child, 'spawn').catch((cause) => {
    throw unavailable('the init of sandboxes could not be started', cause);
  });
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const words = text(child.stderr as Readable).catch(() => '');
  try {
    const socket = child.stdio[3] as Duplex;
    const { workspacePath } = spec;
    const init = await connectInit({
      provider: name,
      socket,
      workspacePath,
      environment,
      limits: toRlimits(spec.limits),
    });
    return toSandbox({ spec, init, child, closed: gone });
  } catch (cause) {
    killGroup(child);
    await gone;
    throw unavailable('commands cannot be started on this host', new Error((await words).trim(), { cause }));
  }
}

interface SandboxParts {
  readonly spec: SandboxSpec;
  readonly init: Awaited<ReturnType<typeof connectInit>>;
  readonly child: ChildProcess;
  readonly closed: Promise<void>;
}

function toSandbox({ spec, init, child, closed }: SandboxParts): Sandbox {
  return {
    name,
    workspacePath: spec.workspacePath,
    network: spec.network.mode,
    limits: spec.limits,
    start: init.start,
    takeDenials: () => [],
    async close() {
      init.close();
      const timer = setTimeout(() => killGroup(child), goneWithinMs);
      await closed;
      clearTimeout(timer);
    },
    closed,
  };
}

/** In the order the init knows them. Of each process alone; a count of processes would count the operator's own. */
function toRlimits({ fileBytes, openFiles, memoryBytes }: SandboxLimits): (number | undefined)[] {
  return [undefined, fileBytes, openFiles, undefined, memoryBytes];
}

/** Of the person that commands run as, and nothing else of what the operator has set. */
function toEnvironment({ path, home }: NoneOptions, uid: number | undefined): Record<string, string> {
  const [user, , , , , ownHome] = findAccount(uid ?? process.getuid?.() ?? 0);
  return {
    PATH: path === '' ? '/usr/bin:/bin' : path,
    HOME: uid === undefined || uid === process.getuid?.() ? home : (ownHome ?? '/tmp'),
    USER: user ?? 'croft',
    LC_CTYPE: characters,
    TMPDIR: '/tmp',
    TERM: 'dumb',
  };
}

/** The fields of a line in /etc/passwd. */
function findAccount(uid: number): string[] {
  const lines = existsSync('/etc/passwd') ? readFileSync('/etc/passwd', 'utf8').split('\n') : [];
  return lines.map((line) => line.split(':')).find(([, , number]) => number === String(uid)) ?? [];
}

function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError('E_SANDBOX_UNAVAILABLE', reason, { details: { provider: name }, cause });
}
