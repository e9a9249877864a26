import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import type { RawName } from '../../core/history/trees/raw-names.ts';
import { makePrivateDatabase } from '../../lib/sqlite/make-private-database.ts';
import { type LeafNode, pathOf } from './tree-nodes.ts';

export interface IndexRow {
  readonly kind: 'file' | 'link';
  readonly identity: LeafNode['identity'];
  readonly hash: string;
  readonly isStored: boolean;
}

/** Identifies the tree of the saved rows, and the state of the store that they refer to. */
export interface IndexMeta {
  readonly tree: string;
  readonly epoch: string;
}

/**
 * The file index of a tree, saved for the next start. Nothing depends on it: files that are missing in it are read
 * again.
 */
export interface IndexFile extends Disposable {
  load(tree: string, signal: AbortSignal): Promise<{ rows: Map<RawName, IndexRow>; epoch: string | undefined }>;
  /** Saves leaves, and deletes those that are not fresh. Blocks the thread, so callers save few at a time. */
  save(leaves: readonly LeafNode[], removed: readonly RawName[], meta: IndexMeta): void;
}

/** Other work gets a turn after this many rows. */
const rowsPerTurn = 500;

const schema = `
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA wal_autocheckpoint = 4000;
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS files (
  path BLOB PRIMARY KEY, kind TEXT NOT NULL, inode INTEGER NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL,
  ctime INTEGER NOT NULL, mode INTEGER NOT NULL, hash BLOB NOT NULL, kept INTEGER NOT NULL
) WITHOUT ROWID;`;

/** Opens the file, or starts a new one if it cannot be read. Returns `undefined` if that fails too. */
export function openIndexFile(file: string): IndexFile | undefined {
  try {
    return open(file);
  } catch {
    for (const each of [file, `${file}-wal`, `${file}-shm`]) rmSync(each, { force: true });
  }
  try {
    return open(file);
  } catch {
    return undefined;
  }
}

function open(file: string): IndexFile {
  makePrivateDatabase(file);
  const database = new DatabaseSync(file, { timeout: 20 });
  try {
    database.exec(schema);
    database.prepare('SELECT count(*) FROM files WHERE kept > 1').get();
  } catch (thrown) {
    database.close();
    throw thrown;
  }
  return {
    load: (tree, signal) => load(database, tree, signal),
    save: (leaves, removed, meta) => save(database, leaves, removed, meta),
    [Symbol.dispose]: () => database.close(),
  };
}

async function load(
  database: DatabaseSync,
  tree: string,
  signal: AbortSignal,
): Promise<{ rows: Map<RawName, IndexRow>; epoch: string | undefined }> {
  const said = database.prepare('SELECT key, value FROM meta').all();
  const meta = new Map(said.map(({ key, value }) => [key, String(value)]));
  const rows = new Map<RawName, IndexRow>();
  if (meta.get('tree') !== tree) return { rows, epoch: undefined };
  const some = database.prepare(`SELECT * FROM files WHERE path > ? ORDER BY path LIMIT ${rowsPerTurn}`);
  some.setReadBigInts(true);
  for (let after = Buffer.alloc(0); ; await setImmediate()) {
    signal.throwIfAborted();
    const found = some.all(after);
    for (const row of found) rows.set(asBuffer(row.path).toString('latin1'), toRow(row));
    if (found.length < rowsPerTurn) return { rows, epoch: meta.get('epoch') };
    after = asBuffer(found.at(-1)?.path);
  }
}

function toRow({ kind, inode, size, mtime, ctime, mode, hash, kept }: Record<string, unknown>): IndexRow {
  const number = (value: unknown) => (typeof value === 'bigint' ? value : 0n);
  const times = { inode: number(inode), mtimeNs: number(mtime), ctimeNs: number(ctime) };
  return {
    kind: kind === 'link' ? 'link' : 'file',
    identity: { ...times, size: Number(size), mode: Number(mode) },
    hash: asBuffer(hash).toString('hex'),
    isStored: kept === 1n,
  };
}

function asBuffer(value: unknown): Buffer<ArrayBuffer> {
  return value instanceof Uint8Array ? Buffer.from(value) : Buffer.alloc(0);
}

/** Saves all or nothing. If another server has the file, or the disk is full, the next start reads more files. */
function save(database: DatabaseSync, leaves: readonly LeafNode[], removed: readonly RawName[], meta: IndexMeta): void {
  try {
    database.exec('BEGIN IMMEDIATE');
    const remove = database.prepare('DELETE FROM files WHERE path = ?');
    for (const path of removed) remove.run(Buffer.from(path, 'latin1'));
    for (const leaf of leaves.filter(({ isFresh }) => !isFresh)) remove.run(Buffer.from(pathOf(leaf), 'latin1'));
    putAll(database, leaves);
    const say = database.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)');
    say.run('tree', meta.tree);
    say.run('epoch', meta.epoch);
    database.exec('COMMIT');
  } catch {
    if (database.isTransaction) database.exec('ROLLBACK');
  }
}

function putAll(database: DatabaseSync, leaves: readonly LeafNode[]): void {
  const put = database.prepare('INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  for (const leaf of leaves) {
    if (!leaf.entry || !leaf.isFresh) continue;
    const { inode, size, mtimeNs, ctimeNs, mode } = leaf.identity;
    const [path, hash] = [Buffer.from(pathOf(leaf), 'latin1'), Buffer.from(leaf.entry.hash, 'hex')];
    put.run(path, leaf.kind, inode, size, mtimeNs, ctimeNs, mode, hash, Number(leaf.isStored));
  }
}
