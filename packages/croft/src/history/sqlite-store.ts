import { AppError } from '@croft/protocol';
import type { HistoryStore, Note, NoteKind } from '../core/history/store.ts';
import { createKeyedLock } from '../lib/keyed-lock.ts';
import { once } from '../lib/once.ts';
import { makeOwnDatabase } from '../lib/own-database.ts';
import { collect } from './sqlite-collect.ts';
import { connect, type SqliteConnection, whenFree } from './sqlite-connection.ts';
import { createContents } from './sqlite-contents.ts';
import { historyError } from './sqlite-errors.ts';
import { prepareSchema } from './sqlite-schema.ts';

export interface SqliteStoreOptions {
  /** More than this it refuses with `E_STORAGE_FULL`. Left out: what the disk holds. */
  readonly maxBytes?: number | undefined;
}

/** A store that says when contents were taken away, so that nobody has to ask for all of them again. */
export interface HistoryStoreWithEpoch extends HistoryStore {
  epoch(): Promise<string>;
}

/** A history in one file, which is opened when it is first asked. Two servers may have it open at once. */
export function openSqliteStore(path: string, options: SqliteStoreOptions = {}): HistoryStoreWithEpoch {
  const lock = createKeyedLock();
  let isOpened = false;
  const ready = once(async () => {
    const opened = await openConnections(path, options);
    isOpened = true;
    return opened;
  });
  const ask = async <T>(work: (reader: SqliteConnection) => T): Promise<T> => {
    const { reader } = await ready();
    return whenFree(() => work(reader));
  };
  const change: Change = async (work, options = { synced: true }) => {
    const opened = await ready();
    return lock.run('write', () => opened.writer.transact(() => work(opened), options));
  };

  return {
    lacks: async (hashes) => (await ready()).contents.lacks(hashes, change),
    read: async (hash) => (await ready()).contents.read(hash),
    async *open(hash) {
      yield* (await ready()).contents.open(hash);
    },
    ...createNotes(ask, change),
    async collect(live) {
      await ready();
      return lock.run('collect', () => collect({ path, live, lock }));
    },
    size: () => ask(sizeOf),
    epoch: () => ask(epochOf),
    [Symbol.asyncDispose]: once(async () => {
      if (!isOpened) return;
      const { reader, writer } = await ready();
      await lock.runAll(['write', 'collect'], async () => {
        reader.close();
        writer.close();
      });
    }),
  };
}

interface Opened {
  readonly writer: SqliteConnection;
  readonly reader: SqliteConnection;
  readonly contents: ReturnType<typeof createContents>;
}

async function openConnections(path: string, { maxBytes }: SqliteStoreOptions): Promise<Opened> {
  makeOwnDatabase(path);
  const writer = connect(path);
  try {
    await prepareSchema(writer, maxBytes);
    const reader = connect(path);
    return { writer, reader, contents: createContents(writer, reader) };
  } catch (thrown) {
    writer.close();
    throw historyError(thrown);
  }
}

/**
 * Kept with every call, without waiting for the disk: after a power cut the last calls may have nothing to be undone by.
 * Contents alone mean nothing yet; they are synced with the note that names them.
 */
const passing: ReadonlySet<NoteKind> = new Set(['checkpoint', 'mark']);

type Ask = <T>(work: (reader: SqliteConnection) => T) => Promise<T>;
type Change = <T>(work: (opened: Opened) => Promise<T>, options?: { readonly synced: boolean }) => Promise<T>;

function createNotes(ask: Ask, change: Change): Pick<HistoryStore, 'keep' | 'note' | 'notes' | 'dropNotes'> {
  return {
    async keep(given, notes = []) {
      if (given.length + notes.length === 0) return;
      const synced = notes.some(({ kind }) => !passing.has(kind));
      await change(
        async ({ writer, contents }) => {
          await contents.put(given);
          for (const { kind, name, note } of notes) putNote(writer, kind, name, note);
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

function putNote(writer: SqliteConnection, kind: NoteKind, name: string, note: Note): void {
  const sql = 'INSERT INTO notes (kind, name, note) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET note = excluded.note';
  writer.run(sql, kind, name, JSON.stringify(note));
}

function parseNote(text: unknown): Note {
  const note: unknown = JSON.parse(String(text));
  if (typeof note === 'object' && note !== null && !Array.isArray(note)) return { ...note };
  throw new AppError('E_STORAGE_FAILED', 'a note of the history is not one: its file is damaged');
}

function sizeOf(reader: SqliteConnection): number {
  const number = (pragma: string) => Number(Object.values(reader.one(`PRAGMA ${pragma}`) ?? {})[0] ?? 0);
  return (number('page_count') - number('freelist_count')) * number('page_size');
}

function epochOf(reader: SqliteConnection): string {
  const row = reader.one('SELECT id, generation FROM meta');
  return `${row?.id}:${row?.generation}`;
}
