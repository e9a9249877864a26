import { closeSync, fdatasync, fstatSync, fsync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { createWorkerThread } from '../concurrency/worker-thread.ts';
import type { CheckpointAnswer, CheckpointQuestion } from './sqlite-checkpoint-worker.ts';

/** The log of one SQLite database in WAL mode: the file `<database>-wal`, to which every commit is appended. */
interface SqliteWal {
  /** Must be called after each commit. From time to time it makes a worker thread move the log into the database. */
  committed(): void;
  /** Resolves when every commit so far is on the disk. */
  sync(): Promise<void>;
  /** Moves the log into the database now, so that the next commit starts the log from its beginning. Never rejects. */
  checkpoint(): Promise<void>;
  /** Resolves when no checkpoint is under way. */
  idle(): Promise<void>;
  close(): void;
}

const commitsPerCheckpoint = 250;
/**
 * A log of this size is moved into the database. When SQLite restarts the log, it truncates the file to `bytesLeft`.
 */
const bytesPerCheckpoint = 4 * 1024 * 1024;
const bytesLeft = 2 * 1024 * 1024;

/**
 * Settings for a writing connection: neither a commit nor a checkpoint waits for the disk on the thread of the
 * connection.
 */
export const sqliteWalPragmas = [
  'PRAGMA synchronous = NORMAL',
  'PRAGMA wal_autocheckpoint = 0',
  `PRAGMA journal_size_limit = ${bytesLeft}`,
];

interface SqliteWalOptions {
  /** Disk space that the files own ahead of need: see `reserveBlocks`. Default: none. */
  readonly reservedBytes?: number | undefined;
}

/** Setting for a writing connection whose log has reserved blocks: the log keeps them when SQLite restarts it. */
export function keepReservePragma(reservedBytes: number): string {
  return `PRAGMA journal_size_limit = ${keptBytes(reservedBytes)}`;
}

const keptBytes = (reservedBytes: number) => bytesLeft + 2 * reservedBytes;

const syncData = promisify(fdatasync);
const syncAll = promisify(fsync);
const checkpoints = createWorkerThread<CheckpointQuestion, CheckpointAnswer>(
  new URL('./sqlite-checkpoint-worker.ts', import.meta.url),
);

/**
 * Makes the commits of one connection durable without blocking its thread. SQLite itself would wait for the disk inside
 * `COMMIT`, and even longer at each checkpoint: on a busy disk a second and more.
 */
export function createSqliteWal(file: string, { reservedBytes = 0 }: SqliteWalOptions = {}): SqliteWal {
  let log: number | undefined;
  let isNameSynced = false;
  let commits = 0;
  let moving: Promise<void> | undefined;
  const maxBytes = keptBytes(reservedBytes) + bytesPerCheckpoint - bytesLeft;
  // SQLite takes no locks on the log file, so closing a descriptor of it releases none. The file stays the same while
  // the connection is open.
  const descriptor = () => (log ??= openSync(`${file}-wal`, 'r'));

  return {
    committed() {
      commits += 1;
      if (!moving && (commits >= commitsPerCheckpoint || sizeNow() >= maxBytes)) void startMoving();
    },
    async sync() {
      await syncData(descriptor());
      if (!isNameSynced) await syncName(file);
      isNameSynced = true;
    },
    async checkpoint() {
      // A checkpoint under way may have begun before the last commit.
      await moving;
      await startMoving();
    },
    idle: async () => moving,
    close() {
      if (log !== undefined) closeSync(log);
      log = undefined;
    },
  };

  function sizeNow(): number {
    try {
      return fstatSync(descriptor()).size;
    } catch {
      // The process has no descriptor left; the caller of `sync` gets that error.
      return 0;
    }
  }

  function startMoving(): Promise<void> {
    moving ??= moveLog().finally(() => {
      moving = undefined;
    });
    return moving;
  }

  /** A failed checkpoint loses nothing: the next one moves more. */
  async function moveLog(): Promise<void> {
    // SQLite restarts the log only when all of it was moved, so a second round moves the commits made meanwhile.
    for (let round = 0; round < 2 && (round === 0 || commits > 0); round++) {
      commits = 0;
      await checkpoints.ask({ file, reservedBytes }).catch(() => {});
    }
  }
}

/**
 * Syncs the directory: otherwise a power cut could remove the name of a new file together with all data synced to it.
 */
async function syncName(file: string): Promise<void> {
  const directory = openSync(dirname(file), 'r');
  try {
    await syncAll(directory);
  } finally {
    closeSync(directory);
  }
}
