import type { DatabaseSync } from 'node:sqlite';

/** The column `hole` has the placeholder of an object: existing databases have it under this name. */
export const schema = `
  CREATE TABLE IF NOT EXISTS objects (
    key TEXT PRIMARY KEY, etag TEXT NOT NULL, modified INTEGER, kind TEXT NOT NULL, mode INTEGER NOT NULL,
    size INTEGER NOT NULL, hash TEXT NOT NULL, hole TEXT
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS intent (key TEXT PRIMARY KEY, id TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS tombstones (key TEXT PRIMARY KEY, write TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS waiting (key TEXT PRIMARY KEY, hash TEXT NOT NULL) WITHOUT ROWID;
`;

export function prepareStatements(database: DatabaseSync) {
  const sql = (text: string) => database.prepare(text);
  return {
    get: sql('SELECT * FROM objects WHERE key = ?'),
    put: sql('INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?, ?, ?, ?)'),
    drop: sql('DELETE FROM objects WHERE key = ?'),
    keys: sql('SELECT key FROM objects'),
    below: sql('SELECT key FROM objects WHERE key >= ? AND key < ?'),
    placeholders: sql('SELECT key FROM objects WHERE hole IS NOT NULL'),
    totals: sql("SELECT count(*) AS files, coalesce(sum(size), 0) AS bytes FROM objects WHERE kind <> 'directory'"),
    state: sql('SELECT name, value FROM state'),
    setState: sql('INSERT OR REPLACE INTO state VALUES (?, ?)'),
    intent: sql('SELECT key, id FROM intent'),
    addIntent: sql('INSERT OR REPLACE INTO intent VALUES (?, ?)'),
    dropIntent: sql('DELETE FROM intent'),
    tombstones: sql('SELECT key, write FROM tombstones'),
    addTombstone: sql('INSERT OR REPLACE INTO tombstones VALUES (?, ?)'),
    dropTombstone: sql('DELETE FROM tombstones WHERE key = ?'),
    waiting: sql('SELECT key, hash FROM waiting'),
    addWaiting: sql('INSERT OR REPLACE INTO waiting VALUES (?, ?)'),
    dropWaiting: sql('DELETE FROM waiting'),
  };
}
