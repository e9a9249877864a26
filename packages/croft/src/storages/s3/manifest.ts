import { closeSync, openSync } from 'node:fs';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { AppError } from '@croft/protocol';
import { type EntryKind, emptyRoot, type Root, type TreeEntry } from '../../core/history/tree.ts';
import { prepareStatements, schema } from './manifest-statements.ts';

/** What stands here for an object, as of the last time both were the same. */
export interface Known extends TreeEntry {
  readonly etag: string;
  /** The second it was put in, where a listing or an answer said so. */
  readonly modifiedAt?: number | undefined;
  /** Its content is not here yet: a file with a hole stands for it, which is this one. */
  readonly hole?: Hole | undefined;
}

export interface Hole {
  readonly inode: string;
  readonly mtimeNs: string;
}

/** A commit that was begun: what it is called, and which keys it may have touched. */
export interface Intent {
  readonly id: string;
  readonly keys: readonly string[];
}

interface State {
  /** The working tree was filled once. */
  readonly isReady: boolean;
  /** Who we are in the head. */
  readonly by: string;
  /** The tree in which everything is as the manifest has it. */
  readonly base: Root;
  readonly headVersion: number;
  readonly headEtag: string;
  /** Of the machine, to notice that it was restarted. */
  readonly bootId: string;
}

export type Manifest = ReturnType<typeof openManifest>;

/**
 * What this server knows of a workspace in a bucket. Everything is durable when its call returns, and `change` is done
 * whole or not at all. Keys, not paths: those are always text.
 */
export function openManifest(file: string) {
  const database = open(file);
  const statements = prepareStatements(database);
  const columnOf = (rows: Record<string, SQLOutputValue>[]) => rows.map(({ key }) => String(key));
  return {
    get(key: string): Known | undefined {
      const row = statements.get.get(key);
      return row && toKnown(row);
    },
    keys: (): string[] => columnOf(statements.keys.all()),
    /** Those of a directory and of everything in it. */
    below: (key: string): string[] => columnOf(statements.below.all(`${key}/`, `${key}0`)),
    holes: (): string[] => columnOf(statements.holes.all()),
    totals(): { files: number; bytes: number } {
      const { files, bytes } = statements.totals.get() ?? {};
      return { files: Number(files), bytes: Number(bytes) };
    },
    put(key: string, { etag, modifiedAt, kind, mode, size, hash, hole }: Known): void {
      const held = hole ? JSON.stringify(hole) : null;
      statements.put.run(key, etag, modifiedAt ?? null, kind, mode, size, hash, held);
    },
    drop: (key: string): void => void statements.drop.run(key),

    state(): State {
      const rows = statements.state.all().map(({ name, value }) => [String(name), JSON.parse(String(value))]);
      return { ...emptyState, ...Object.fromEntries(rows) };
    },
    setState(values: Partial<State>): void {
      for (const [name, value] of Object.entries(values)) statements.setState.run(name, JSON.stringify(value));
    },

    intent(): Intent | undefined {
      const rows = statements.intent.all();
      return rows[0] && { id: String(rows[0].id), keys: columnOf(rows) };
    },
    setIntent(intent: Intent | undefined): void {
      statements.dropIntent.run();
      for (const key of intent?.keys ?? []) statements.addIntent.run(key, intent?.id ?? '');
    },

    /** Those of ours that are still to be taken away, and by which commit they were put. */
    tombstones: (): Map<string, string> =>
      new Map(statements.tombstones.all().map(({ key, write }) => [String(key), String(write)])),
    addTombstone: (key: string, write: string): void => void statements.addTombstone.run(key, write),
    dropTombstone: (key: string): void => void statements.dropTombstone.run(key),

    /** What was changed here and synced to the disk while the bucket did not answer; `''` for what was removed. */
    waiting: (): Map<string, string> =>
      new Map(statements.waiting.all().map(({ key, hash }) => [String(key), String(hash)])),
    setWaiting(changed: ReadonlyMap<string, string>): void {
      statements.dropWaiting.run();
      for (const [key, hash] of changed) statements.addWaiting.run(key, hash);
    },

    change<T>(work: () => T): T {
      database.exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        database.exec('COMMIT');
        return result;
      } catch (thrown) {
        database.exec('ROLLBACK');
        throw thrown;
      }
    },
    close: (): void => database.close(),
  };
}

const emptyState: State = { isReady: false, by: '', base: emptyRoot, headVersion: 0, headEtag: '', bootId: '' };

function open(file: string): DatabaseSync {
  // Nobody but the server has any business in it; what SQLite puts beside it has the same mode.
  closeSync(openSync(file, 'a', 0o600));
  const database = new DatabaseSync(file, { timeout: 2000 });
  try {
    // Held for good: two servers with one data directory would each undo what the other wrote.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    database.exec(schema);
    return database;
  } catch (cause) {
    database.close();
    throw new AppError(
      'E_STORAGE_FAILED',
      'this workspace is open in another server with the same data directory; start each server with a --data of its own',
      {
        cause,
      },
    );
  }
}

function toKnown({ etag, modified, kind, mode, size, hash, hole }: Record<string, SQLOutputValue>): Known {
  return {
    etag: String(etag),
    modifiedAt: modified === null ? undefined : Number(modified),
    kind: String(kind) as EntryKind,
    mode: Number(mode),
    size: Number(size),
    hash: String(hash),
    hole: hole === null ? undefined : JSON.parse(String(hole)),
  };
}
