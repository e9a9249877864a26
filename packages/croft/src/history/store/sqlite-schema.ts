import { randomUUID } from 'node:crypto';
import { AppError } from '@croft/protocol';
import { sqliteWalPragmas } from '../../lib/sqlite/sqlite-wal.ts';
import { type HistoryConnection, retryWhileBusy } from './sqlite-connection.ts';

const version = 2;
const pageBytes = 8192;

/** Finds rows that were never packed without a scan of the table. */
const toPack = ['contents', 'pieces']
  .map((table) => `CREATE INDEX ${table}_to_pack ON ${table} (id) WHERE packing = 0;`)
  .join('\n');

const tables = `
CREATE TABLE meta (
  id TEXT NOT NULL,
  generation INTEGER NOT NULL,
  collecting INTEGER NOT NULL,
  collected_size INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE contents (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  size INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  bytes BLOB,
  packing INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE pieces (
  id INTEGER PRIMARY KEY,
  content INTEGER NOT NULL,
  part INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  packing INTEGER NOT NULL DEFAULT 0,
  UNIQUE (content, part)
);
CREATE TABLE notes (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  note TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;
${toPack}
`;

/** SQL that upgrades a history from an earlier version. */
const upgrades: Readonly<Record<number, string>> = {
  0: tables,
  1: `
    ALTER TABLE meta ADD COLUMN collected_size INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE contents ADD COLUMN packing INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE pieces ADD COLUMN packing INTEGER NOT NULL DEFAULT 0;
    ${toPack}`,
};

export async function prepareSchema(writer: HistoryConnection, maxBytes: number | undefined): Promise<void> {
  // Both pragmas must come before the first table and have no effect after it.
  await retryWhileBusy(() => writer.execute(`PRAGMA page_size = ${pageBytes}; PRAGMA auto_vacuum = INCREMENTAL`));
  await retryWhileBusy(() => writer.execute(`${['PRAGMA journal_mode = WAL', ...sqliteWalPragmas].join(';')}`));
  if (maxBytes !== undefined) writer.execute(`PRAGMA max_page_count = ${Math.ceil(maxBytes / pageBytes)}`);
  await writer.transact(
    async () => {
      const found = Number(writer.one('PRAGMA user_version')?.user_version ?? 0);
      if (found === version) return;
      if (found > version) throw tooNew();
      writer.execute(upgrades[found] ?? '');
      if (found === 0) writer.run('INSERT INTO meta (id, generation, collecting) VALUES (?, 1, 0)', randomUUID());
      writer.execute(`PRAGMA user_version = ${version}`);
    },
    { synced: true },
  );
}

function tooNew(): AppError {
  return new AppError('E_STORAGE_FAILED', 'the history was written by a newer Croft; start that one, or move it away');
}
