import { randomUUID } from 'node:crypto';
import type { LanguageServerDefinition } from '../core/code/ports/language-server-definition.ts';
import type { CodeMode, LanguageServers } from '../core/code/ports/language-servers.ts';
import type { Sandbox } from '../core/commands/sandbox.ts';
import type { Emit } from '../core/events/emitter.ts';
import type { Files } from '../core/files/files.ts';
import { languageIdOfFile } from './language-id-of-file.ts';
import { createNumberedChanges, type TakeChanges } from './numbered-changes.ts';
import { noServerError } from './server-errors.ts';
import { createSupervisedServer, type SupervisedServer } from './supervised-server.ts';

/** A program of this machine with the directories that it needs, to be started in a sandbox. */
export interface FoundProgram {
  readonly argv: readonly [string, ...string[]];
  readonly readable: readonly string[];
}

interface LanguageServersOptions {
  readonly workspace: string;
  readonly mode: CodeMode;
  readonly definitions: readonly LanguageServerDefinition[];
  readonly files: Pick<Files, 'read' | 'modifiedTimes'>;
  readonly emit: Emit;
  take: TakeChanges;
  /** Returns `undefined` if the server is not installed. */
  findProgram(definition: LanguageServerDefinition): FoundProgram | undefined;
  /** Opens a sandbox with the workspace read-only and no network. */
  openSandbox(definition: LanguageServerDefinition, readable: readonly string[]): Promise<Sandbox>;
}

const maxServers = 4;

interface Entry {
  readonly server: SupervisedServer;
  users: number;
  timer: NodeJS.Timeout | undefined;
}

/** The language servers of one workspace. */
export function createLanguageServers(options: LanguageServersOptions): LanguageServers & { close(): Promise<void> } {
  const { mode, definitions } = options;
  const changes = createNumberedChanges(options.take);
  /** Servers by name, the least recently used first. */
  const entries = new Map<string, Entry>();
  const id = randomUUID();

  return {
    definitionFor: (path) => definitions.find((definition) => languageIdOfFile(definition, path) !== undefined),
    isRunning: (name) => entries.get(name)?.server.isRunning() ?? false,
    treeVersion: async () => `${id}.${await changes.update()}`,
    async use(definition, wanted, work) {
      const entry = find(definition);
      entry.users += 1;
      clearTimeout(entry.timer);
      try {
        return await entry.server.use(wanted, work);
      } finally {
        entry.users -= 1;
        if (entry.users === 0) entry.timer = setTimeout(() => drop(definition.name), definition.idleMs).unref();
      }
    },
    close: async () => {
      await Promise.all([...entries.keys()].map(drop));
    },
  };

  function find(definition: LanguageServerDefinition): Entry {
    const { name } = definition;
    const entry = entries.get(name) ?? { server: create(definition), users: 0, timer: undefined };
    entries.delete(name);
    entries.set(name, entry);
    for (const [other, { users }] of entries)
      if (entries.size > maxServers && users === 0 && other !== name) void drop(other);
    return entry;
  }

  async function drop(name: string): Promise<void> {
    const entry = entries.get(name);
    entries.delete(name);
    clearTimeout(entry?.timer);
    await entry?.server.stop();
  }

  function create(definition: LanguageServerDefinition): SupervisedServer {
    const { name, install, settings = {}, safe } = definition;
    if (mode === 'safe' && safe?.refusal !== undefined)
      throw noServerError(definition, `is off in the mode safe: ${safe.refusal}`);
    const program = options.findProgram(definition);
    if (!program) throw noServerError(definition, `is not installed. ${install}`);
    const argv = [...program.argv, ...definition.args] as const as readonly [string, ...string[]];
    return createSupervisedServer({
      launch: { definition, argv, settings: mode === 'safe' ? { ...settings, ...safe?.settings } : settings },
      ...{ files: options.files, changes },
      openSandbox: () => options.openSandbox(definition, program.readable),
      tell: (state, words) =>
        options.emit('lifecycle.code.server', () => ({
          ...{ workspace: options.workspace, server: name, state },
          ...(words !== '' && { reason: words }),
        })),
    });
  }
}
