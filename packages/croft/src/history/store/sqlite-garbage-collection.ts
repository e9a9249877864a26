import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '@croft/protocol';
import type { TreeHash } from '../../core/history/ports/tree.ts';
import { decodeRawListing } from '../../core/history/trees/listing-codec.ts';
import { sqliteWalPragmas } from '../../lib/sqlite/sqlite-wal.ts';
import { type CancellableTransact, packAll } from './compress-rows.ts';
import { connectHistory, type HistoryConnection } from './sqlite-connection.ts';
import { createSqliteContentReader } from './sqlite-content-reader.ts';

const rowsPerTurn = 50;
const pagesPerTurn = 64;
const pauseMs = 2;

/** A garbage collection in progress: contents of this generation or later stay, and so do trees that notes name. */
export interface GarbageCollection {
  readonly path: string;
  readonly generation: number;
  readonly noted: readonly string[];
}

/** Begins a collection. Contents stored or asked for from now on get a generation that is not swept. */
export function beginCollection(path: string): Promise<GarbageCollection> {
  return withConnection(path, async (connection) => ({
    path,
    ...(await connection.transact(async () => begin(connection), { synced: true })),
  }));
}

interface FinishCollectionOptions {
  readonly live: readonly TreeHash[];
  /** Whether the collection is cancelled. The rest is left to the next one. */
  isCancelled(): boolean;
}

/**
 * Marks reachable contents, sweeps the rest and packs what stays, in small steps, in a worker thread while the server
 * runs (`collect-worker.ts`). Trees that notes name count as reachable, whatever the caller says: another server may
 * have written the notes. Returns the number of bytes freed.
 */
export function finishCollection(
  collection: GarbageCollection,
  { live, isCancelled }: FinishCollectionOptions,
): Promise<number> {
  const { path, generation, noted } = collection;
  return withConnection(path, async (connection) => {
    // Pauses after each transaction, so that other writers wait for one and not for all of them.
    const change: CancellableTransact = async (work) => {
      if (isCancelled()) return undefined;
      const result = await connection.transact(work, { synced: true });
      await pause(pauseMs);
      return result;
    };
    for (const table of ['marked', 'walked'])
      connection.execute(`CREATE TEMP TABLE ${table} (hash BLOB PRIMARY KEY) WITHOUT ROWID`);
    await createMarker(connection, isCancelled)(live, noted);
    const freed = await sweep(connection, generation, change);
    const end = async () => connection.run('UPDATE meta SET collecting = 0 WHERE generation = ?', generation);
    await connection.transact(end, { synced: true });
    await packAll(connection, change);
    await shrink(connection, change);
    await change(async () => connection.run('UPDATE meta SET collected_size = ?', usedBytes(connection)));
    // Deleted pages are still in the write-ahead log, which would use as much of the disk.
    connection.execute('PRAGMA wal_checkpoint(TRUNCATE)');
    return freed;
  });
}

async function withConnection<T>(path: string, work: (connection: HistoryConnection) => Promise<T>): Promise<T> {
  const connection = connectHistory(path);
  try {
    connection.execute(sqliteWalPragmas.join(';'));
    return await work(connection);
  } finally {
    connection.close();
  }
}

function begin(connection: HistoryConnection): { generation: number; noted: string[] } {
  connection.run('UPDATE meta SET generation = generation + 1, collecting = 1');
  const generation = Number(connection.one('SELECT generation FROM meta')?.generation);
  const notes = connection.all('SELECT note FROM notes').map(({ note }) => String(note));
  return { generation, noted: notes.flatMap((note) => note.match(/\b[0-9a-f]{64}\b/g) ?? []) };
}

function createMarker(connection: HistoryConnection, isCalledOff: () => boolean) {
  const { read } = createSqliteContentReader(connection);

  const mark = (hash: string) => connection.run('INSERT OR IGNORE INTO marked VALUES (?)', Buffer.from(hash, 'hex'));

  /**
   * Returns false if the listing was already walked. This differs from a mark: a file may have the same bytes as a
   * listing.
   */
  const walk = (hash: string) =>
    connection.run('INSERT OR IGNORE INTO walked VALUES (?)', Buffer.from(hash, 'hex')).changes > 0;

  /**
   * Returns the directories in a listing and marks its files. A missing tree is empty. A damaged one may have named
   * anything, so an error stops the collection.
   */
  async function below(hash: string, mayBeAnything: boolean): Promise<string[]> {
    if (!connection.one('SELECT 1 FROM contents WHERE hash = ?', Buffer.from(hash, 'hex'))) return [];
    const bytes = await read(hash);
    try {
      const directories: string[] = [];
      for (const entry of decodeRawListing(bytes)) {
        if (entry.kind === 'directory') directories.push(entry.hash);
        else mark(entry.hash);
      }
      return directories;
    } catch (thrown) {
      if (mayBeAnything && AppError.is(thrown)) return [];
      throw thrown;
    }
  }

  return async (live: readonly string[], noted: readonly string[]): Promise<void> => {
    const left = [...live.map((hash) => [hash, false] as const), ...noted.map((hash) => [hash, true] as const)];
    for (let next = left.pop(); next && !isCalledOff(); next = left.pop()) {
      const [hash, mayBeAnything] = next;
      if (!walk(hash)) continue;
      mark(hash);
      for (const each of await below(hash, mayBeAnything)) left.push([each, mayBeAnything]);
    }
  };
}

async function sweep(connection: HistoryConnection, generation: number, change: CancellableTransact): Promise<number> {
  const sql = `SELECT id, size FROM contents
    WHERE id > ? AND generation < ? AND hash NOT IN (SELECT hash FROM marked) ORDER BY id LIMIT ${rowsPerTurn}`;
  let freed = 0;
  for (let after = 0; ; ) {
    const rows = await change(async () => {
      const found = connection.all(sql, after, generation);
      for (const { id = 0 } of found) {
        connection.run('DELETE FROM pieces WHERE content = ?', id);
        connection.run('DELETE FROM contents WHERE id = ?', id);
      }
      return found;
    });
    for (const { size } of rows ?? []) freed += Number(size);
    if (!rows?.length) return freed;
    after = Number(rows.at(-1)?.id);
  }
}

/** Returns the size of the file without its free pages. */
export function usedBytes(connection: HistoryConnection): number {
  const number = (pragma: string) => Number(Object.values(connection.one(`PRAGMA ${pragma}`) ?? {})[0] ?? 0);
  return (number('page_count') - number('freelist_count')) * number('page_size');
}

/** Returns free pages to the disk. */
async function shrink(connection: HistoryConnection, change: CancellableTransact): Promise<void> {
  const free = () => Number(connection.one('PRAGMA freelist_count')?.freelist_count ?? 0);
  for (let left = free(); left > 0; ) {
    await change(async () => connection.execute(`PRAGMA incremental_vacuum(${pagesPerTurn})`));
    const now = free();
    if (now >= left) return;
    left = now;
  }
}
