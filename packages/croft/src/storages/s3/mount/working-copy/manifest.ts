import { closeSync, openSync } from 'node:fs';
import { basename } from 'node:path';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { AppError } from '@croft/protocol';
import { type EntryKind, emptyTreeHash, type TreeEntry, type TreeHash } from '../../../../core/history/ports/tree.ts';
import { errorMessage } from '../../../../lib/error-message.ts';
import { isSqliteBusy } from '../../../../lib/sqlite/sqlite-error-kind.ts';
import { prepareStatements, schema } from './manifest-statements.ts';

/** The state of an object at the last time when the bucket and the working tree agreed about it. */
export interface KnownObject extends TreeEntry {
  readonly etag: string;
  /** The modification time in seconds, if a listing or an answer said it. */
  readonly modifiedAt?: number | undefined;
  /** Set while the content is not downloaded: identifies the placeholder file. */
  readonly placeholder?: PlaceholderFile | undefined;
}

export interface PlaceholderFile {
  readonly inode: string;
  readonly mtimeNs: string;
}

/** A commit that was started: its id, and the keys it may have touched. */
interface Intent {
  readonly id: string;
  readonly keys: readonly string[];
}

interface MountState {
  /** Whether the first download was completed. */
  readonly isReady: boolean;
  /** The id of this mount in the head's commits. */
  readonly by: string;
  /** The tree in which everything is as the manifest says. */
  readonly base: TreeHash;
  readonly headVersion: number;
  readonly headEtag: string;
  /** Boot id of the machine, to notice a restart. */
  readonly bootId: string;
}

export type MountManifest = ReturnType<typeof openMountManifest>;

/**
 * A SQLite file with what this server knows about a workspace in a bucket. Every call is durable when it returns, and
 * `change` is atomic. Rows use keys instead of paths, because keys are always valid text.
 */
export function openMountManifest(file: string) {
  const database = open(file);
  const statements = prepareStatements(database);
  const columnOf = (rows: Record<string, SQLOutputValue>[]) => rows.map(({ key }) => String(key));
  return {
    get(key: string): KnownObject | undefined {
      const row = statements.get.get(key);
      return row && toKnownObject(row);
    },
    keys: (): string[] => columnOf(statements.keys.all()),
    /** The keys of a directory and of everything in it. */
    below: (key: string): string[] => columnOf(statements.below.all(`${key}/`, `${key}0`)),
    placeholders: (): string[] => columnOf(statements.placeholders.all()),
    totals(): { files: number; bytes: number } {
      const { files, bytes } = statements.totals.get() ?? {};
      return { files: Number(files), bytes: Number(bytes) };
    },
    put(key: string, { etag, modifiedAt, kind, mode, size, hash, placeholder }: KnownObject): void {
      const hole = placeholder ? JSON.stringify(placeholder) : null;
      statements.put.run(key, etag, modifiedAt ?? null, kind, mode, size, hash, hole);
    },
    drop: (key: string): void => void statements.drop.run(key),

    state(): MountState {
      const rows = statements.state.all().map(({ name, value }) => [String(name), JSON.parse(String(value))]);
      return { ...emptyState, ...Object.fromEntries(rows) };
    },
    setState(values: Partial<MountState>): void {
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

    /** Our tombstones that are still to be deleted, with the id of the commit that put each. */
    tombstones: (): Map<string, string> =>
      new Map(statements.tombstones.all().map(({ key, write }) => [String(key), String(write)])),
    addTombstone: (key: string, write: string): void => void statements.addTombstone.run(key, write),
    dropTombstone: (key: string): void => void statements.dropTombstone.run(key),

    /** Changes that were synced to the disk while the bucket did not answer: hash by key, `''` for a removed file. */
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

const emptyState: MountState = {
  isReady: false,
  by: '',
  base: emptyTreeHash,
  headVersion: 0,
  headEtag: '',
  bootId: '',
};

function openFile(file: string): DatabaseSync {
  try {
    // Only the server may read it. SQLite gives the files it creates beside it the same mode.
    closeSync(openSync(file, 'a', 0o600));
    return new DatabaseSync(file, { timeout: 2000 });
  } catch (cause) {
    throw cannotOpen(file, cause);
  }
}

function open(file: string): DatabaseSync {
  const database = openFile(file);
  try {
    // The lock is held until the database is closed: two servers with one data directory would undo each other's
    // changes.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    database.exec(schema);
    return database;
  } catch (cause) {
    database.close();
    throw isSqliteBusy(cause) ? openElsewhere(cause) : cannotOpen(file, cause);
  }
}

function openElsewhere(cause: unknown): AppError {
  return new AppError('E_STORAGE_FAILED', 'this workspace is open in another server with the same data directory', {
    cause,
    hint: 'Nothing was done. Ask the operator to start each server with a --data of its own.',
  });
}

function cannotOpen(file: string, cause: unknown): AppError {
  // Agents read this: neither the file's directory nor the path that Node adds to its message is for them.
  const reason = errorMessage(cause).replace(/, open '.*'$/s, '');
  return new AppError(
    'E_STORAGE_FAILED',
    `the list of this workspace's files cannot be opened: ${basename(file)}: ${reason}`,
    {
      cause,
      hint: 'Nothing was done. Ask the operator to check this file and its disk.',
    },
  );
}

function toKnownObject({ etag, modified, kind, mode, size, hash, hole }: Record<string, SQLOutputValue>): KnownObject {
  return {
    etag: String(etag),
    modifiedAt: modified === null ? undefined : Number(modified),
    kind: String(kind) as EntryKind,
    mode: Number(mode),
    size: Number(size),
    hash: String(hash),
    placeholder: hole === null ? undefined : JSON.parse(String(hole)),
  };
}
