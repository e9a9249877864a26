import { rmSync, statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { makePrivateDatabase } from '../lib/sqlite/make-private-database.ts';
import { sqliteErrorKind } from '../lib/sqlite/sqlite-error-kind.ts';

/** One open index. Every thread has connections of its own. */
export interface IndexDatabase {
  /** Compiles a statement once. */
  prepare(sql: string): StatementSync;
  /** Runs `work` on one state of the index, whatever other programs write meanwhile. */
  read<T>(work: () => T): T;
  /** Runs `work` in a transaction that other writers wait for. */
  write<T>(work: () => T): T;
}

/** Counted up with every change of the tables: an index of another version is built anew. */
const version = 3;
/** Large pages waste less behind packed values of a few kB. */
const pageBytes = 16_384;
/** The log of writes is moved into the database when it has this many pages: 2 MB. */
const logPages = 128;
/** Of one connection; three threads have one each. The system keeps the rest of the file in its own cache. */
const cacheKb = 4000;
const busyMs = 5000;
const maxOpen = 16;
/** Kinds of errors after which a database is of no use: damaged, or no database at all. */
const damaged: ReadonlySet<number | undefined> = new Set([10, 11, 26]);

/**
 * The definitions of a file are packed in one value, which is a sixth of what rows of their own take. Those of all files
 * are numbered: a file has `count` of them, beginning with `first`. Near numbers take few bytes in the tables of words,
 * which keep no text: they answer numbers of definitions, and ids of files.
 *
 * `due` is the number of the change for which a file has to be read, 0 if it need not be. Numbers are never used twice, so
 * that bytes which were read before a change do not pass for those after it.
 */
const schema = `
  CREATE TABLE files (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, time REAL NOT NULL, due INTEGER NOT NULL,
    language TEXT, symbols BLOB, mentions BLOB, rank REAL NOT NULL DEFAULT 1, first INTEGER, count INTEGER
  );
  CREATE INDEX files_first ON files (first) WHERE first NOT NULL;
  CREATE INDEX files_due ON files (id) WHERE due > 0;
  CREATE VIRTUAL TABLE symbol_words USING fts5 (
    name, parts, container, signature, doc, path, content = '', contentless_delete = 1, detail = column, tokenize = 'ascii'
  );
  CREATE VIRTUAL TABLE file_words USING fts5 (
    words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
  );
  CREATE TABLE state (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
`;

interface OpenIndex extends IndexDatabase {
  readonly inode: number;
  close(): void;
}

const opened = new Map<string, OpenIndex>();

/**
 * Runs `work` with the index in a file. A damaged index is deleted and made anew, empty, and `work` runs once more: what
 * was in it is in the files of the workspace.
 */
export function withIndex<T>(file: string, maxBytes: number, work: (index: IndexDatabase) => T): T {
  try {
    return work(open(file, maxBytes));
  } catch (thrown) {
    if (!damaged.has(sqliteErrorKind(thrown))) throw thrown;
    discard(file);
    return work(open(file, maxBytes));
  }
}

export function closeIndex(file: string): void {
  opened.get(file)?.close();
  opened.delete(file);
}

function discard(file: string): void {
  closeIndex(file);
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
}

function open(file: string, maxBytes: number): OpenIndex {
  const known = opened.get(file);
  // Another process may have replaced a damaged file.
  if (known && statSync(file, { throwIfNoEntry: false })?.ino === known.inode) {
    opened.delete(file);
    opened.set(file, known);
    return known;
  }
  closeIndex(file);
  const made = connect(file, maxBytes);
  opened.set(file, made);
  const [oldest] = opened.keys();
  if (oldest !== undefined && opened.size > maxOpen) closeIndex(oldest);
  return made;
}

function connect(file: string, maxBytes: number): OpenIndex {
  makePrivateDatabase(file);
  const database = new DatabaseSync(file, { timeout: busyMs });
  try {
    database.exec(
      `PRAGMA page_size = ${pageBytes}; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL`,
    );
    database.exec(`PRAGMA wal_autocheckpoint = ${logPages}; PRAGMA journal_size_limit = ${logPages * pageBytes}`);
    database.exec(`PRAGMA cache_size = -${cacheKb}; PRAGMA max_page_count = ${Math.ceil(maxBytes / pageBytes)}`);
    prepareTables(database, file);
    return toIndex(database, statSync(file).ino);
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

function prepareTables(database: DatabaseSync, file: string): void {
  mustBeWhole(database, file);
  database.exec('BEGIN IMMEDIATE');
  try {
    const found = Number(database.prepare('PRAGMA user_version').get()?.user_version ?? 0);
    if (found !== 0 && found !== version) throw new NotAnIndex();
    if (found === 0) database.exec(`${schema}; PRAGMA user_version = ${version}`);
    database.exec('COMMIT');
  } finally {
    if (database.isTransaction) database.exec('ROLLBACK');
  }
}

/** A file that was cut off answers from the pages it still has. Its log may have pages that are not in it yet. */
function mustBeWhole(database: DatabaseSync, file: string): void {
  const moved = database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
  if (moved?.busy !== 0 || moved.log !== moved.checkpointed) return;
  const pages = Number(database.prepare('PRAGMA page_count').get()?.page_count ?? 0);
  const { size } = statSync(file);
  if (size > 0 && size < pages * pageBytes) throw new NotAnIndex();
}

class NotAnIndex extends Error {
  /** As SQLite's own error for a file that is no database. */
  readonly errcode = 26;
}

function toIndex(database: DatabaseSync, inode: number): OpenIndex {
  const statements = new Map<string, StatementSync>();
  return {
    inode,
    prepare(sql) {
      const statement = statements.get(sql) ?? database.prepare(sql);
      statements.set(sql, statement);
      return statement;
    },
    read: (work) => inTransaction('BEGIN', work),
    write: (work) => inTransaction('BEGIN IMMEDIATE', work),
    close: () => database.close(),
  };

  function inTransaction<T>(begin: string, work: () => T): T {
    database.exec(begin);
    try {
      const result = work();
      database.exec('COMMIT');
      return result;
    } finally {
      if (database.isTransaction) database.exec('ROLLBACK');
    }
  }
}
