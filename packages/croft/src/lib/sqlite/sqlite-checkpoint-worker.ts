import { DatabaseSync } from 'node:sqlite';
import { answerQuestions } from '../concurrency/worker-thread.ts';
import { makeSqliteRoom } from './reserve-blocks.ts';

export interface CheckpointQuestion {
  readonly file: string;
  /** See `makeSqliteRoom`. 0: the files grow as they need. */
  readonly roomBytes: number;
}

/** Whether the checkpoint was completed; another process may have been in the way. */
export type CheckpointAnswer = boolean;

answerQuestions(({ file, roomBytes }: CheckpointQuestion): CheckpointAnswer => {
  try {
    using database = openAsItIs(file);
    if (roomBytes > 0) tryMakingRoom(database, file, roomBytes);
    database.exec('PRAGMA synchronous = FULL');
    return database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get()?.busy === 0;
  } catch {
    return false;
  }
});

/** Room that cannot be made now is made with a later checkpoint. */
function tryMakingRoom(...given: Parameters<typeof makeSqliteRoom>): void {
  try {
    makeSqliteRoom(...given);
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
