import { DatabaseSync } from 'node:sqlite';
import { answerQuestions } from '../concurrency/worker-thread.ts';
import { reserveBlocks } from './reserve-blocks.ts';

export interface CheckpointQuestion {
  readonly file: string;
  /** See `reserveBlocks`. 0: the files grow as they need. */
  readonly reservedBytes: number;
}

/** Whether the checkpoint was completed; another process may have been in the way. */
export type CheckpointAnswer = boolean;

answerQuestions(({ file, reservedBytes }: CheckpointQuestion): CheckpointAnswer => {
  try {
    using database = openAsItIs(file);
    if (reservedBytes > 0) tryToReserve(database, file, reservedBytes);
    database.exec('PRAGMA synchronous = FULL');
    return database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get()?.busy === 0;
  } catch {
    return false;
  }
});

/** Blocks that cannot be reserved now are reserved with a later checkpoint. */
function tryToReserve(...given: Parameters<typeof reserveBlocks>): void {
  try {
    reserveBlocks(...given);
  } catch {
    // The disk is full, or another process holds the database.
  }
}

/** Opens an existing database only; a missing file is not created. */
function openAsItIs(file: string): DatabaseSync {
  const url = new URL('file:');
  url.pathname = file;
  url.searchParams.set('mode', 'rw');
  return new DatabaseSync(url, { timeout: 0 });
}
