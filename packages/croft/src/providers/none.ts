import { once } from 'node:events';
import { chownSync, existsSync, fstatSync, readFileSync, statSync } from 'node:fs';
import type { Duplex, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { AppError } from '@croft/protocol';
import type { Provider, Sandbox, SandboxLimits, SandboxSpec } from '../core/commands/sandbox.ts';
import { utf8Locale } from '../host/sandbox-environment.ts';
import { connectInit } from '../init/connect-init.ts';
import { findInit } from '../init/find-init.ts';
import { removeTree } from '../lib/files/remove-tree.ts';
import { makeTemporaryDirectory, removeTemporaryDirectory } from '../lib/files/temporary-directory.ts';
import { type Owner, ownerOf } from '../lib/files/workspace-owner.ts';
import { type ChildProcess, killProcessGroup, spawnProgram } from '../lib/processes/spawn.ts';

interface NoneOptions {
  /** The operator's own PATH, which commands get. */
  readonly path: string;
  readonly home: string;
}

const name = 'none';
/** Longer than the init ever takes to end its programs. */
const goneWithinMs = 5000;

/**
 * Runs commands on this machine without isolation, where an operator asked for that by name. The same init as in every
 * other sandbox starts them, so that streams, terminals, signals and exits behave alike.
 */
export function createNone({ path, home }: NoneOptions): Provider {
  return {
    name,
    async open(spec) {
      checkAccess(spec);
      checkPolicy(spec);
      checkDirectory(spec);
      const owner = ownerOf(spec.directoryFd);
      const temporaryPath = makeTemporary(owner);
      const child = spawnProgram([findInit()], { env: {}, stdio: ['ignore', 'ignore', 'pipe', 'pipe'], owner });
      const environment = toEnvironment({ path, home, temporaryPath }, owner?.uid);
      return openSandbox(child, { ...spec, temporaryPath }, { ...spec.personal?.environment, ...environment });
    },
  };
}

/** Makes a temporary directory of its own, because files in the shared /tmp may be somebody else's. */
function makeTemporary(owner: Owner | undefined): string {
  try {
    const path = makeTemporaryDirectory('commands');
    if (owner) chownSync(path, owner.uid, owner.gid);
    return path;
  } catch (cause) {
    throw unavailable(cause instanceof Error ? cause.message : 'there is no place for temporary files', cause);
  }
}

/** Without isolation nothing keeps commands from writing. */
function checkAccess({ isReadOnly }: SandboxSpec): void {
  if (isReadOnly) throw unavailable('--sandbox none cannot make a workspace read-only; leave --sandbox none out');
}

/** Refuses a network policy that cannot be enforced here, rather than enforcing a part of it. */
function checkPolicy({ network: { mode } }: SandboxSpec): void {
  if (mode === 'allow-all') return;
  // The server has narrowed the policy of a sandbox record to `public`.
  if (mode === 'public')
    throw unavailable(
      'the provider none has no isolation, so that its commands reach every network of the machine, and this server ' +
        'allows accounts public addresses only: croft serve --network allow-all allows all of them',
    );
  throw unavailable(
    `--sandbox none cannot hold the network policy ${mode}; add --network allow-all, or leave --sandbox none out`,
  );
}

/** Commands start in the path, so that it must still be the directory that is open. */
function checkDirectory({ directoryFd, workspacePath }: SandboxSpec): void {
  const [opened, named] = [fstatSync(directoryFd), statSync(workspacePath, { throwIfNoEntry: false })];
  if (opened.dev === named?.dev && opened.ino === named.ino) return;
  throw unavailable(`${workspacePath} is not the directory of the workspace any more; start croft again`);
}

interface NoneSpec extends SandboxSpec {
  readonly temporaryPath: string;
}

async function openSandbox(
  child: ChildProcess,
  spec: NoneSpec,
  environment: Readonly<Record<string, string>>,
): Promise<Sandbox> {
  await once(child, 'spawn').catch(async (cause) => {
    await removeTemporary(spec.temporaryPath);
    throw unavailable('the init of sandboxes could not be started', cause);
  });
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve())).then(() =>
    removeTemporary(spec.temporaryPath),
  );
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
    killProcessGroup(child);
    await gone;
    throw unavailable('commands cannot be started on this host', new Error((await words).trim(), { cause }));
  }
}

/** Removes the directory with everything that programs left there. Files that cannot be removed stay. */
async function removeTemporary(path: string): Promise<void> {
  try {
    await removeTree(path);
    removeTemporaryDirectory(path);
  } catch {
    // The directory is below Croft's own and does no harm.
  }
}

interface SandboxParts {
  readonly spec: NoneSpec;
  readonly init: Awaited<ReturnType<typeof connectInit>>;
  readonly child: ChildProcess;
  readonly closed: Promise<void>;
}

function toSandbox({ spec, init, child, closed }: SandboxParts): Sandbox {
  return {
    name,
    workspacePath: spec.workspacePath,
    temporaryPath: spec.temporaryPath,
    network: spec.network.mode,
    limits: spec.limits,
    start: init.start,
    takeDenials: () => [],
    async close() {
      init.close();
      const timer = setTimeout(() => killProcessGroup(child), goneWithinMs);
      await closed;
      clearTimeout(timer);
    },
    closed,
  };
}

/**
 * In the order of the init. They limit each process by itself; a limit on the number of processes would count the
 * operator's own too.
 */
function toRlimits({ fileBytes, openFiles, memoryBytes }: SandboxLimits): (number | undefined)[] {
  return [undefined, fileBytes, openFiles, undefined, memoryBytes];
}

/** The environment of the user that commands run as. Nothing else of the operator's environment is passed on. */
function toEnvironment(
  { path, home, temporaryPath }: NoneOptions & Pick<NoneSpec, 'temporaryPath'>,
  uid: number | undefined,
): Record<string, string> {
  const [user, , , , , ownHome] = findAccount(uid ?? process.getuid?.() ?? 0);
  return {
    PATH: path === '' ? '/usr/bin:/bin' : path,
    HOME: uid === undefined || uid === process.getuid?.() ? home : (ownHome ?? temporaryPath),
    USER: user ?? 'croft',
    LC_CTYPE: utf8Locale,
    TMPDIR: temporaryPath,
    TERM: 'dumb',
  };
}

/** Returns the fields of a user's line in /etc/passwd. */
function findAccount(uid: number): string[] {
  const lines = existsSync('/etc/passwd') ? readFileSync('/etc/passwd', 'utf8').split('\n') : [];
  return lines.map((line) => line.split(':')).find(([, , number]) => number === String(uid)) ?? [];
}

function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError('E_SANDBOX_UNAVAILABLE', reason, { details: { provider: name }, cause });
}
