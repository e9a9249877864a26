import { dirname } from 'node:path';
import { AppError } from '@croft/protocol';
import type { LanguageServerDefinition } from '../../core/code/ports/language-server-definition.ts';
import type { CodeMode, LanguageServers, ServerMode } from '../../core/code/ports/language-servers.ts';
import { lowerLimits } from '../../core/commands/lower-limits.ts';
import type { Provider, Sandbox, SandboxLimits } from '../../core/commands/sandbox.ts';
import type { Emit } from '../../core/events/emitter.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import { type FollowedPaths, followDirectoryChanges } from '../../history/follow-directory-changes.ts';
import * as definitions from '../../language-servers/index.ts';
import { createIdleKeyDropper } from '../../lib/concurrency/drop-idle-keys.ts';
import { once } from '../../lib/concurrency/once.ts';
import { afterWorkersEnd } from '../../lib/concurrency/start-worker.ts';
import { findPackageFile } from '../../lib/processes/find-package-file.ts';
import { releaseMemory } from '../../lib/processes/release-memory.ts';
import { languageIdOfFile } from '../../lsp/language-id-of-file.ts';
import { createLanguageServers, type FoundProgram } from '../../lsp/language-servers.ts';
import { createSyntax } from '../../syntax/create-syntax.ts';
import type { SearchedDirectory } from './open-search-box.ts';

/** The account that a workspace belongs to. Its language servers are sandboxes of the account. */
export interface ServersAccount {
  readonly id: string;
  /** Most that a sandbox of the account may have. */
  readonly limits: SandboxLimits;
  /** Counts a sandbox while it is open. Throws `E_QUOTA`. */
  countSandbox(open: () => Promise<Sandbox>): Promise<Sandbox>;
}

/** A workspace on this machine. */
interface WorkspaceDirectory extends SearchedDirectory, Pick<Workspace, 'name' | 'root' | 'files'> {
  readonly key: string;
  /** Absent: the workspace is the operator's. */
  readonly account?: ServersAccount | undefined;
}

interface CodeServersOptions {
  readonly mode: CodeMode;
  readonly provider: Provider;
  /** Directories that all sandboxes may read. Servers on the operator's PATH may be in one. */
  readonly readable: readonly string[];
  readonly emit: Emit;
  /** A workspace whose code nobody has asked about for this time is forgotten. One hour if left out. */
  readonly idleMs?: number | undefined;
}

/** Name of the cursor on the changes that a history's tree counts. */
const asker = 'language-servers';
const gigabyte = 1024 ** 3;
const hourMs = 3_600_000;
const known = Object.values(definitions);

type OpenServers = LanguageServers & { close(): Promise<void> };

/** Limits of a server besides its memory: a server needs a few processes and threads, and writes to its caches only. */
const limits: Omit<SandboxLimits, 'memoryBytes'> = {
  processes: 256,
  cpus: 2,
  fileBytes: gigabyte,
  openFiles: 8192,
  diskBytes: gigabyte,
};

export type LanguageServersOfWorkspaces = ReturnType<typeof createLanguageServersOfWorkspaces>;

/** Parsers and language servers, shared by all workspaces of this machine. */
export function openCodeParts(options: CodeServersOptions) {
  afterWorkersEnd(releaseMemory);
  return {
    syntax: options.mode === 'off' ? undefined : createSyntax(),
    codeServers: createLanguageServersOfWorkspaces(options),
  };
}

/** The language servers of all workspaces on this machine. Sessions of a workspace share its servers. */
export function createLanguageServersOfWorkspaces(options: CodeServersOptions) {
  const { mode, idleMs = hourMs } = options;
  /** How each workspace was last opened: handles of earlier times may be closed. */
  const directories = new Map<string, WorkspaceDirectory>();
  const opened = new Map<string, OpenServers>();
  const idle = createIdleKeyDropper(idleMs, (key) => {
    const servers = opened.get(key);
    opened.delete(key);
    directories.delete(key);
    void servers?.close();
  });

  /** Opened by its first use, and again by the next use after an idle time. */
  function current(key: string, directory: WorkspaceDirectory, wanted: ServerMode): OpenServers {
    if (!directories.has(key)) directories.set(key, directory);
    const servers = opened.get(key) ?? openServers(directory, () => directories.get(key), { ...options, mode: wanted });
    opened.set(key, servers);
    return servers;
  }

  return {
    /** The mode of this machine. Absent: there are no servers. */
    serverMode: mode === 'safe' || mode === 'full' ? mode : undefined,
    whyNone: `they are off here (--code ${mode})`,
    /** Returns the language servers of a workspace. Each starts at its first use. */
    of(directory: WorkspaceDirectory, wanted: ServerMode): LanguageServers {
      const key = JSON.stringify([directory.key, directory.root, wanted]);
      if (directories.has(key)) directories.set(key, directory);
      return {
        definitionFor: (path) => known.find((definition) => languageIdOfFile(definition, path) !== undefined),
        isRunning: (name) => opened.get(key)?.isRunning(name) ?? false,
        treeVersion: () => idle.use(key, () => current(key, directory, wanted).treeVersion()),
        use: (definition, use, work) => idle.use(key, () => current(key, directory, wanted).use(definition, use, work)),
      };
    },
    /** The number of workspaces of which something is kept. */
    size: () => Math.max(opened.size, directories.size),
    /** Ends the servers of a workspace that is about to be removed. */
    async closeOf(workspaceKey: string): Promise<void> {
      const own = [...directories].filter(([, { key }]) => key === workspaceKey).map(([key]) => key);
      await Promise.all(own.map((key) => opened.get(key)?.close()));
      for (const key of own) {
        directories.delete(key);
        opened.delete(key);
      }
    },
    async close(): Promise<void> {
      await Promise.all([...opened.values()].map((servers) => servers.close()));
    },
  };
}

interface OpenServersOptions extends Omit<CodeServersOptions, 'mode'> {
  readonly mode: ServerMode;
}

/** Opens the language servers of one workspace. `find` returns how it was last opened. */
function openServers(
  { name, files }: WorkspaceDirectory,
  find: () => WorkspaceDirectory | undefined,
  { mode, provider, readable: always, emit }: OpenServersOptions,
): OpenServers {
  let following: Promise<FollowedPaths> | undefined;
  const directory = (): WorkspaceDirectory => {
    const found = find();
    if (!found) throw new AppError('E_NO_SERVER', 'the workspace is closed');
    found.mustBeThere();
    return found;
  };
  const follow = once(() => {
    following = Promise.resolve(directory().directoryFd()).then(followDirectoryChanges);
    return following;
  });
  const servers = createLanguageServers({
    ...{ workspace: name, mode, definitions: known, files, emit, findProgram },
    async take() {
      const tree = await directory().tree?.();
      return tree ? tree.touchedSince(asker) : (await follow()).take();
    },
    openSandbox: ({ memoryBytes }, readable) =>
      openServerSandbox(directory(), { memoryBytes, readable: [...new Set([...always, ...readable])] }, provider),
  });
  const close = async () => {
    await servers.close();
    await following?.then((one) => one.close()).catch(() => {});
  };
  return { ...servers, close };
}

async function openServerSandbox(
  { root, directoryFd, account }: WorkspaceDirectory,
  { memoryBytes, readable }: { readonly memoryBytes: number; readonly readable: readonly string[] },
  provider: Provider,
): Promise<Sandbox> {
  const wanted = { ...limits, memoryBytes };
  const handle = await directoryFd();
  const open = () =>
    provider.open({
      ...{ directoryFd: handle, workspacePath: root, isReadOnly: true, accountId: account?.id, readable },
      ...{ limits: account ? lowerLimits(account.limits, wanted) : wanted, network: { mode: 'deny-all' } },
    });
  return account ? account.countSandbox(open) : open();
}

/** A server of Croft's own packages never comes from the workspace. Others are found on the PATH of the sandbox. */
function findProgram({ program }: LanguageServerDefinition): FoundProgram | undefined {
  if (program.kind === 'path') return { argv: [program.name], readable: [] };
  const file = findPackageFile(program.packages, program.file);
  if (file === undefined) return undefined;
  const directory = file.slice(0, -program.file.length - 1);
  if (!program.isScript) return { argv: [file], readable: [directory] };
  return { argv: [process.execPath, file], readable: [directory, dirname(process.execPath)] };
}
