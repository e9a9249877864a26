import { dirname } from 'node:path';
import { AppError } from '@croft/protocol';
import type { LanguageServerDefinition } from '../../core/code/ports/language-server-definition.ts';
import type { CodeMode, LanguageServers, ServerMode } from '../../core/code/ports/language-servers.ts';
import type { Provider, SandboxLimits } from '../../core/commands/sandbox.ts';
import type { Emit } from '../../core/events/emitter.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import { type FollowedPaths, followChanges } from '../../history/follow-changes.ts';
import * as definitions from '../../language-servers/index.ts';
import { once } from '../../lib/concurrency/once.ts';
import { findPackageFile } from '../../lib/processes/find-package-file.ts';
import { createLanguageServers, type FoundProgram } from '../../lsp/language-servers.ts';
import { createSyntax } from '../../syntax/create-syntax.ts';
import type { SearchedDirectory } from './open-search-box.ts';

/** A workspace on this machine. */
interface WorkspaceDirectory extends SearchedDirectory, Pick<Workspace, 'name' | 'root' | 'files'> {
  readonly key: string;
}

interface CodeServersOptions {
  readonly mode: CodeMode;
  readonly provider: Provider;
  /** Directories that all sandboxes may read. Servers on the operator's PATH may be in one. */
  readonly readable: readonly string[];
  readonly emit: Emit;
}

/** Name of the cursor on the changes that a history's tree counts. */
const asker = 'language-servers';
const gigabyte = 1024 ** 3;

/** Limits of a server besides its memory: a server needs a few processes and threads, and writes to its caches only. */
const limits: Omit<SandboxLimits, 'memoryBytes'> = {
  processes: 256,
  cpus: 2,
  fileBytes: gigabyte,
  openFiles: 8192,
  diskBytes: gigabyte,
};

export type CodeServers = ReturnType<typeof createCodeServers>;

/** Parsers and language servers, shared by all workspaces of this machine. */
export function openCodeParts(options: CodeServersOptions) {
  return {
    syntax: options.mode === 'off' ? undefined : createSyntax(),
    codeServers: createCodeServers(options),
  };
}

/** The language servers of all workspaces on this machine. Sessions of a workspace share its servers. */
export function createCodeServers({ mode, provider, readable: always, emit }: CodeServersOptions) {
  const places = new Map<string, WorkspaceDirectory>();
  const opened = new Map<string, LanguageServers & { close(): Promise<void> }>();
  const followed = new Set<FollowedPaths>();

  const serverMode = mode === 'safe' || mode === 'full' ? mode : undefined;

  function open(key: string, { name, files }: WorkspaceDirectory, mode: ServerMode) {
    const place = (): WorkspaceDirectory => {
      const known = places.get(key);
      if (!known) throw new AppError('E_NO_SERVER', 'the workspace is closed');
      known.mustBeThere();
      return known;
    };
    const follow = once(async () => {
      const following = await followChanges(await place().directoryFd());
      followed.add(following);
      return following;
    });
    return createLanguageServers({
      ...{ workspace: name, mode, definitions: Object.values(definitions), files, emit, findProgram },
      async take() {
        const tree = await place().tree?.();
        return tree ? tree.touchedSince(asker) : (await follow()).take();
      },
      async openSandbox({ memoryBytes }, readable) {
        const { root, directoryFd } = place();
        return provider.open({
          ...{ directoryFd: await directoryFd(), workspacePath: root, isReadOnly: true },
          readable: [...new Set([...always, ...readable])],
          ...{ limits: { ...limits, memoryBytes }, network: { mode: 'deny-all' } },
        });
      },
    });
  }

  return {
    /** The mode of this machine. Absent: there are no servers. */
    serverMode,
    whyNone: `they are off here (--code ${mode})`,
    /** Nothing is started before its first use. */
    of(place: WorkspaceDirectory, wanted: ServerMode): LanguageServers {
      const key = JSON.stringify([place.key, place.root, wanted]);
      places.set(key, place);
      const servers = opened.get(key) ?? open(key, place, wanted);
      opened.set(key, servers);
      return servers;
    },
    /** Ends the servers of a workspace that is about to be removed. */
    async closeOf(placeKey: string): Promise<void> {
      const own = [...places].filter(([, { key }]) => key === placeKey).map(([key]) => key);
      await Promise.all(own.map((key) => opened.get(key)?.close()));
      for (const key of own) {
        places.delete(key);
        opened.delete(key);
      }
    },
    async close(): Promise<void> {
      await Promise.all([...opened.values()].map((servers) => servers.close()));
      for (const following of followed) following.close();
    },
  };
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
