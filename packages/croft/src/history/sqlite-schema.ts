import { randomUUID } from 'node:crypto';
import { AppError } from '@croft/protocol';
import { type SqliteConnection, whenFree } from './sqlite-connection.ts';

const version = 1;
const pageBytes = 8192;

/** Of a connection that writes: SQLite syncs what it moves out of its log, and whoever transacts syncs the log. */
export const lightSync = 'PRAGMA synchronous = NORMAL';

const tables = `
CREATE TABLE meta (id TEXT NOT NULL, generation INTEGER NOT NULL, collecting INTEGER NOT NULL);
CREATE TABLE contents (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  size INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  bytes BLOB
);
CREATE TABLE pieces (
  id INTEGER PRIMARY KEY,
  content INTEGER NOT NULL,
  part INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  UNIQUE (content, part)
);
CREATE TABLE notes (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  note TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;
`;

export async function prepareSchema(writer: SqliteConnection, maxBytes: number | undefined): Promise<void> {
  // Both have to come before the first table, and are without effect after it.
  await whenFree(() => writer.execute(`PRAGMA page_size = ${pageBytes}; PRAGMA auto_vacuum = INCREMENTAL`));
  await whenFree(() => writer.execute(`PRAGMA journal_mode = WAL; ${lightSync}`));
  if (maxBytes !== undefined) writer.execute(`PRAGMA max_page_count = ${Math.ceil(maxBytes / pageBytes)}`);
  await writer.transact(
    async () => {
      const found = Number(writer.one('PRAGMA user_version')?.user_version ?? 0);
      if (found === version) return;
      if (found > version) throw tooNew();
      writer.execute(tables);
      writer.run('INSERT INTO meta (id, generation, collecting) VALUES (?, 1, 0)', randomUUID());
      writer.execute(`PRAGMA user_version = ${version}`);
    },
    { synced: true },
  );
}

function tooNew(): AppError {
  return new AppError('E_STORAGE_FAILED', 'the history was written by a newer Croft; start that one, or move it away');
}
