import { dirname } from 'node:path';
import { AppError } from '@croft/protocol';
import type {
  HistoryNote,
  HistoryQuota,
  HistoryStore,
  NoteKind,
  NoteToStore,
} from '../../core/history/ports/history-store.ts';
import { createConcurrencyLimit } from '../../lib/concurrency/concurrency-limit.ts';
import { createKeyedLock } from '../../lib/concurrency/keyed-lock.ts';
import { once } from '../../lib/concurrency/once.ts';
import { createWorkerThread } from '../../lib/concurrency/worker-thread.ts';
import { makePrivateDatabase } from '../../lib/sqlite/make-private-database.ts';
import type { CollectAnswer, CollectQuestion } from './collect-worker.ts';
import { createHistoryQuota, type HistoryLimits, type HistoryShare } from './history-quota.ts';
import { historyError } from './history-store-errors.ts';
import { connectHistory, type HistoryConnection, retryWhileBusy } from './sqlite-connection.ts';
import { createSqliteContents } from './sqlite-contents.ts';
import { beginCollection, usedBytes } from './sqlite-garbage-collection.ts';
import { prepareSchema } from './sqlite-schema.ts';

export interface SqliteStoreOptions {
  /** Writes beyond this size throw `E_STORAGE_FULL`. Without it, the disk is the limit. */
  readonly maxBytes?: number | undefined;
  /** Limits on automatic storage. Absent: everything is stored. */
  readonly limits?: HistoryLimits | undefined;
  readonly share?: HistoryShare | undefined;
}

/**
 * A store whose `epoch` changes whenever contents are deleted. While it is the same, a caller may take for granted that
 * contents which it found before are still there.
 */
interface HistoryStoreWithEpoch extends HistoryStore {
  epoch(): Promise<string>;
}

/** Opens a history in one SQLite file, on first use. Two servers may have it open at once. */
export function openSqliteStore(path: string, options: SqliteStoreOptions = {}): HistoryStoreWithEpoch {
  const lock = createKeyedLock();
  let connected: Opened | undefined;
  const isCalledOff = new Int32Array(new SharedArrayBuffer(4));
  const ready = once(async () => {
    connected = await openConnections(path, options);
    return connected;
  });
  const ask = async <T>(work: (reader: HistoryConnection) => T): Promise<T> => {
    const { reader } = await ready();
    return retryWhileBusy(() => work(reader));
  };
  const change: Change = async (work, options = { synced: true }) => {
    const opened = await ready();
    return lock.run('write', () => opened.writer.transact(() => work(opened), options));
  };

  return {
    quota: options.limits && toQuota(path, options.limits, { ...options, opened: () => connected }),
    findMissing: async (hashes) => (await ready()).contents.lacks(hashes, change),
    read: async (hash) => (await ready()).contents.read(hash),
    async *open(hash) {
      yield* (await ready()).contents.open(hash);
    },
    ...createNotes(ask, change),
    async collectGarbage(live, _dropped, onBegun) {
      await ready();
      return lock.run('collect', async () => {
        const collection = await lock.run('write', () => beginCollection(path));
        onBegun?.();
        return finishAside({ collection, live, isCalledOff });
      });
    },
    size: () => ask(usedBytes),
    grownSinceCollection: () =>
      ask((reader) => usedBytes(reader) - Number(reader.one('SELECT collected_size FROM meta')?.collected_size)),
    epoch: () => ask(epochOf),
    [Symbol.asyncDispose]: once(async () => {
      if (!connected) return;
      Atomics.store(isCalledOff, 0, 1);
      const { reader, writer } = connected;
      await lock.runAll(['write', 'collect'], async () => {
        reader.close();
        writer.close();
      });
    }),
  };
}

const collector = createWorkerThread<CollectQuestion, CollectAnswer>(new URL('./collect-worker.ts', import.meta.url));
/**
 * Histories that are busy at the same time become due at the same time, and each collection takes megabytes of memory.
 * Two at once, so that a large history does not hold up all the others.
 */
const collections = createConcurrencyLimit(2);

async function finishAside(question: CollectQuestion): Promise<number> {
  const answer = await collections.run(() => collector.ask(question));
  if ('freed' in answer) return answer.freed;
  throw new AppError(answer.refused.code, answer.refused.message, answer.refused);
}

function toQuota(
  path: string,
  limits: HistoryLimits,
  { opened, share }: Pick<SqliteStoreOptions, 'share'> & { opened(): Opened | undefined },
): HistoryQuota {
  let size = 0;
  return createHistoryQuota({
    ...{ directory: dirname(path), limits, share },
    size() {
      const { reader } = opened() ?? {};
      // Another server may hold the file: the last known size is used then.
      if (reader) size = orElse(size, () => usedBytes(reader));
      return size;
    },
  });
}

function orElse<T>(otherwise: T, ask: () => T): T {
  try {
    return ask();
  } catch {
    return otherwise;
  }
}

interface Opened {
  readonly writer: HistoryConnection;
  readonly reader: HistoryConnection;
  readonly contents: ReturnType<typeof createSqliteContents>;
}

async function openConnections(path: string, { maxBytes }: SqliteStoreOptions): Promise<Opened> {
  makePrivateDatabase(path);
  const writer = connectHistory(path);
  try {
    await prepareSchema(writer, maxBytes);
    const reader = connectHistory(path);
    return { writer, reader, contents: createSqliteContents(writer, reader) };
  } catch (thrown) {
    writer.close();
    throw historyError(thrown);
  }
}

/**
 * Kinds written with every call without waiting for the disk: after a power cut the last calls may not be undoable.
 * Contents alone need no sync; they are synced with the note that names them.
 */
const unsyncedKinds: ReadonlySet<NoteKind> = new Set(['checkpoint', 'mark']);

type Ask = <T>(work: (reader: HistoryConnection) => T) => Promise<T>;
type Change = <T>(work: (opened: Opened) => Promise<T>, options?: { readonly synced: boolean }) => Promise<T>;

function createNotes(ask: Ask, change: Change): Pick<HistoryStore, 'put' | 'note' | 'notes' | 'dropNotes'> {
  return {
    async put(given, notes = []) {
      if (given.length + notes.length === 0) return;
      const synced = notes.some(({ kind }) => !unsyncedKinds.has(kind));
      await change(
        async ({ writer, contents }) => {
          await contents.put(given);
          for (const note of notes) putNote(writer, note);
        },
        { synced },
      );
    },
    async note(kind, name) {
      const row = await ask((reader) => reader.one('SELECT note FROM notes WHERE kind = ? AND name = ?', kind, name));
      return row && parseNote(row.note);
    },
    async notes(kind) {
      const rows = await ask((reader) => reader.all('SELECT name, note FROM notes WHERE kind = ? ORDER BY name', kind));
      return rows.map(({ name, note }) => ({ name: String(name), note: parseNote(note) }));
    },
    async dropNotes(kind, names) {
      if (names.length === 0) return;
      await change(async ({ writer }) => {
        for (const name of names) writer.run('DELETE FROM notes WHERE kind = ? AND name = ?', kind, name);
      });
    },
  };
}

function putNote(writer: HistoryConnection, { kind, name, note, isNew }: NoteToStore): void {
  const otherwise = isNew ? 'DO NOTHING' : 'DO UPDATE SET note = excluded.note';
  const sql = `INSERT INTO notes (kind, name, note) VALUES (?, ?, ?) ON CONFLICT ${otherwise}`;
  const { changes } = writer.run(sql, kind, name, JSON.stringify(note));
  if (changes === 0) throw new AppError('E_ALREADY_EXISTS', `the history has a ${kind} ${name} already`);
}

function parseNote(text: unknown): HistoryNote {
  const note: unknown = JSON.parse(String(text));
  if (typeof note === 'object' && note !== null && !Array.isArray(note)) return { ...note };
  throw new AppError('E_STORAGE_FAILED', 'a note in the history cannot be read: the history file is damaged');
}

function epochOf(reader: HistoryConnection): string {
  const row = reader.one('SELECT id, generation FROM meta');
  return `${row?.id}:${row?.generation}`;
}
