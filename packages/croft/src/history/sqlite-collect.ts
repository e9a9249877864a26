import { setImmediate } from 'node:timers/promises';
import { AppError } from '@croft/protocol';
import { decodeRawListing } from '../core/history/listing.ts';
import type { Root } from '../core/history/tree.ts';
import type { KeyedLock } from '../lib/keyed-lock.ts';
import { connect, type SqliteConnection } from './sqlite-connection.ts';
import { createContents } from './sqlite-contents.ts';
import { lightSync } from './sqlite-schema.ts';

const rowsPerTurn = 200;
const pagesPerTurn = 256;

export interface CollectOptions {
  readonly path: string;
  readonly live: readonly Root[];
  readonly lock: KeyedLock;
}

/**
 * Marks what can be reached, then sweeps the rest, a little at a time and with a connection of its own. What is kept or
 * asked for while it goes on gets a higher generation than it sweeps. What a note names is reached too, whatever the
 * caller says: another server may have written it since.
 */
export async function collect({ path, live, lock }: CollectOptions): Promise<number> {
  const connection = connect(path);
  const change = <T>(work: () => Promise<T>) => lock.run('write', () => connection.transact(work, { synced: true }));
  try {
    connection.execute(lightSync);
    for (const table of ['marked', 'walked'])
      connection.execute(`CREATE TEMP TABLE ${table} (hash BLOB PRIMARY KEY) WITHOUT ROWID`);
    const { generation, noted } = await change(async () => begin(connection));
    await createMarker(connection)(live, noted);
    const freed = await sweep(connection, generation, change);
    await change(async () => connection.run('UPDATE meta SET collecting = 0 WHERE generation = ?', generation));
    await shrink(connection, change);
    return freed;
  } finally {
    connection.close();
  }
}

function begin(connection: SqliteConnection): { generation: number; noted: string[] } {
  connection.run('UPDATE meta SET generation = generation + 1, collecting = 1');
  const generation = Number(connection.one('SELECT generation FROM meta')?.generation);
  const notes = connection.all('SELECT note FROM notes').map(({ note }) => String(note));
  return { generation, noted: notes.flatMap((note) => note.match(/\b[0-9a-f]{64}\b/g) ?? []) };
}

function createMarker(connection: SqliteConnection) {
  const { read } = createContents(connection, connection);
  let marks = 0;

  async function mark(hash: string): Promise<void> {
    if (++marks % rowsPerTurn === 0) await setImmediate();
    connection.run('INSERT OR IGNORE INTO marked VALUES (?)', Buffer.from(hash, 'hex'));
  }

  /** False if it was already. Not the same as a mark: a file may hold the very bytes of a listing. */
  const walk = (hash: string) =>
    connection.run('INSERT OR IGNORE INTO walked VALUES (?)', Buffer.from(hash, 'hex')).changes > 0;

  /** A tree that is not there holds nothing; one that has rotted may have held anything, and nothing may go. */
  async function below(hash: string, mayBeAnything: boolean): Promise<string[]> {
    if (!connection.one('SELECT 1 FROM contents WHERE hash = ?', Buffer.from(hash, 'hex'))) return [];
    const bytes = await read(hash);
    try {
      const directories: string[] = [];
      for (const entry of decodeRawListing(bytes)) {
        if (entry.kind === 'directory') directories.push(entry.hash);
        else await mark(entry.hash);
      }
      return directories;
    } catch (thrown) {
      if (mayBeAnything && AppError.is(thrown)) return [];
      throw thrown;
    }
  }

  return async (live: readonly string[], noted: readonly string[]): Promise<void> => {
    const left = [...live.map((hash) => [hash, false] as const), ...noted.map((hash) => [hash, true] as const)];
    for (let next = left.pop(); next; next = left.pop()) {
      const [hash, mayBeAnything] = next;
      if (!walk(hash)) continue;
      await mark(hash);
      for (const each of await below(hash, mayBeAnything)) left.push([each, mayBeAnything]);
    }
  };
}

type Change = <T>(work: () => Promise<T>) => Promise<T>;

async function sweep(connection: SqliteConnection, generation: number, change: Change): Promise<number> {
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
    for (const { size } of rows) freed += Number(size);
    if (rows.length === 0) return freed;
    after = Number(rows.at(-1)?.id);
    await setImmediate();
  }
}

/** Gives the room back to the disk. */
async function shrink(connection: SqliteConnection, change: Change): Promise<void> {
  const free = () => Number(connection.one('PRAGMA freelist_count')?.freelist_count ?? 0);
  for (let left = free(); left > 0; ) {
    await change(async () => connection.execute(`PRAGMA incremental_vacuum(${pagesPerTurn})`));
    const now = free();
    if (now >= left) return;
    left = now;
    await setImmediate();
  }
}
