import { toUri } from '../core/code/ports/file-uris.ts';
import type { Files } from '../core/files/files.ts';
import { createKeyedLock } from '../lib/concurrency/keyed-lock.ts';
import { languageIdOfFile } from './language-id-of-file.ts';
import type { NumberedChanges } from './numbered-changes.ts';
import type { createOpenDocuments } from './open-documents.ts';
import { ServerGoneError } from './server-errors.ts';
import type { LanguageServerLaunch, ServerProcess } from './server-process.ts';

interface TellChangesOptions extends Pick<LanguageServerLaunch, 'definition'> {
  readonly process: ServerProcess;
  readonly files: Pick<Files, 'modifiedTimes'>;
  readonly changes: NumberedChanges;
  readonly documents: ReturnType<typeof createOpenDocuments>;
  /** The number of the last change before the process started. */
  readonly startedAt: number;
}

/** With more changes a new process is quicker. */
const maxEvents = 2000;
/** Most documents that are opened to make a server reread them. With more changes, a new process is quicker. */
const maxOpened = 32;
const readMs = 3000;
/** Numbers of the protocol. */
const [created, changed, deleted] = [1, 2, 3];

/** Tells a server what changed on the disk: the new texts of open documents, and the names of other files. */
export function createChangeNotifier(options: TellChangesOptions) {
  const { definition, process, files, changes, documents } = options;
  const lock = createKeyedLock();
  let known = options.startedAt;

  async function tell(paths: ReadonlySet<string>): Promise<void> {
    await documents.update(paths);
    const others = [...paths].filter((path) => !documents.isOpen(path));
    const times = await files.modifiedTimes(others);
    if (definition.rereadsOnlyOpen) return openAll(others, times);
    // Whether a file is new is not known. A server that knows it takes the first event, and another one the second:
    // TypeScript takes no change of a file for one after it was told that the file is new.
    const events = others.flatMap((path, index) =>
      ((times[index] ?? 0) === 0 ? [deleted] : [changed, created]).map((type) => ({
        uri: toUri(process.root, path),
        type,
      })),
    );
    if (events.length === 0) return;
    if (others.some((path) => languageIdOfFile(definition, path) !== undefined)) process.readiness.expectRescan();
    process.rpc.notify('workspace/didChangeWatchedFiles', { changes: events });
  }

  /** Opens the changed documents, and waits for the diagnostics of each, which show that the server has read it. */
  async function openAll(paths: readonly string[], times: readonly number[]): Promise<void> {
    const known = paths.filter((path) => languageIdOfFile(definition, path) !== undefined);
    const isGone = (path: string) => (times[paths.indexOf(path)] ?? 0) === 0;
    if (known.length > maxOpened || known.some(isGone)) await restart();
    await Promise.all(
      known.map(async (path) => {
        const since = performance.now();
        await documents.open(path).catch(() => {});
        await process.published.wait(path, documents.versionOf(path) ?? 0, { since, timeoutMs: readMs });
      }),
    );
  }

  async function restart(): Promise<never> {
    await process.stop();
    throw new ServerGoneError('files changed so that the language server starts anew');
  }

  function needsRestart(paths: ReadonlySet<string>): boolean {
    return paths.size > maxEvents || hasRestartFile(definition, paths);
  }

  return {
    tell,
    /** The number of the last change that the server was told of. */
    told: () => known,
    /** Reads the changes and sends them to the server. Ends a server for which there are too many. */
    async sync(): Promise<number> {
      const version = await changes.update();
      return lock.run('sync', async () => {
        const paths = changes.changedSince(known);
        if (paths === 'everything' || needsRestart(paths)) return restart();
        if (paths.size > 0) await tell(paths);
        known = Math.max(known, version);
        return version;
      });
    },
  };
}

function hasRestartFile(
  { restartFiles = [] }: LanguageServerLaunch['definition'],
  paths: ReadonlySet<string>,
): boolean {
  const isOne = (path: string) => restartFiles.includes(path.slice(path.lastIndexOf('/') + 1));
  return restartFiles.length > 0 && [...paths].some(isOne);
}
