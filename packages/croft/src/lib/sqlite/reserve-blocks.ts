import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

/** Blocks are reserved only while the disk has this many times as much free, so that the reserve never fills the disk. */
const leastTimesFree = 4;
/** How long another connection may hold the database before reserving is given up. */
const busyMs = 1000;

/**
 * Makes a database in WAL mode own disk blocks ahead of need: `reservedBytes` of free pages inside the database file, and
 * as much in its log. Commits and checkpoints then overwrite blocks that the files have already, so they succeed on a
 * full disk, whoever filled it. A copy-on-write filesystem takes new blocks all the same.
 *
 * The blocks come from one transaction that writes zeros and removes them again. `secure_delete` makes SQLite write the
 * removed pages, which it may leave out otherwise.
 */
export function reserveBlocks(database: DatabaseSync, file: string, reservedBytes: number): void {
  if (!isReserveSmall(database, file, reservedBytes) || freeBytes(file) < leastTimesFree * reservedBytes) return;
  // The log is synced by the checkpoint that follows, after the lock of the transaction is gone.
  database.exec(`PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA busy_timeout = ${busyMs}`);
  database.exec('PRAGMA secure_delete = ON; BEGIN IMMEDIATE');
  try {
    database.exec(
      `CREATE TABLE croft_reserve (zeros BLOB); INSERT INTO croft_reserve VALUES (zeroblob(${reservedBytes}))`,
    );
    database.exec('DROP TABLE croft_reserve; COMMIT');
  } finally {
    // A full disk has rolled back already.
    if (database.isTransaction) database.exec('ROLLBACK');
  }
}

function isReserveSmall(database: DatabaseSync, file: string, reservedBytes: number): boolean {
  const [pages, pageBytes] = [readPragma(database, 'freelist_count'), readPragma(database, 'page_size')];
  const logBytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  return pages * pageBytes < reservedBytes / 2 || logBytes < reservedBytes;
}

function readPragma(database: DatabaseSync, name: 'freelist_count' | 'page_size'): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
}

function freeBytes(file: string): number {
  const { bavail, bsize } = statfsSync(dirname(file));
  return bavail * bsize;
}
