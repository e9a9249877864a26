import { toUri } from '../core/code/ports/file-uris.ts';
import type { Files } from '../core/files/files.ts';
import { createKeyedLock } from '../lib/concurrency/keyed-lock.ts';
import type { ChangeLog } from './change-log.ts';
import { languageOf } from './language-of.ts';
import type { createOpenDocuments } from './open-documents.ts';
import { ServerGoneError } from './server-errors.ts';
import type { LanguageServerLaunch, ServerProcess } from './server-process.ts';

interface TellChangesOptions extends Pick<LanguageServerLaunch, 'definition'> {
  readonly process: ServerProcess;
  readonly files: Pick<Files, 'modifiedTimes'>;
  readonly changes: ChangeLog;
  readonly documents: ReturnType<typeof createOpenDocuments>;
  /** The number of the last change before the process started. */
  readonly startedAt: number;
}

/** With more changes a new process is quicker. */
const maxEvents = 2000;
/** Numbers of the protocol. */
const [created, changed, deleted] = [1, 2, 3];

/** Tells a server what changed on the disk: the new texts of open documents, and the names of other files. */
export function createChangeTeller(options: TellChangesOptions) {
  const { definition, process, files, changes, documents } = options;
  const lock = createKeyedLock();
  let known = options.startedAt;

  async function tell(paths: ReadonlySet<string>): Promise<void> {
    await documents.update(paths);
    const others = [...paths].filter((path) => !documents.isOpen(path));
    const times = await files.modifiedTimes(others);
    // Whether a file is new is not known. A server that knows it takes the first event, and another one the second:
    // TypeScript takes no change of a file for one after it was told that the file is new.
    const events = others.flatMap((path, index) =>
      ((times[index] ?? 0) === 0 ? [deleted] : [changed, created]).map((type) => ({
        uri: toUri(process.root, path),
        type,
      })),
    );
    if (events.length === 0) return;
    if (others.some((path) => languageOf(definition, path) !== undefined)) process.readiness.expectRescan();
    process.rpc.notify('workspace/didChangeWatchedFiles', { changes: events });
  }

  return {
    tell,
    /** The number of the last change that the server was told of. */
    told: () => known,
    /** Takes in what changed and tells it. Ends a server that would have to be told too much. */
    async sync(): Promise<number> {
      const version = await changes.update();
      return lock.run('sync', async () => {
        const paths = changes.changedSince(known);
        if (paths === 'everything' || paths.size > maxEvents || hasRestartFile(definition, paths)) {
          await process.stop();
          throw new ServerGoneError('so many files changed that the language server starts anew');
        }
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
