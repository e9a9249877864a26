import { DatabaseSync } from 'node:sqlite';
import { answerQuestions } from '../concurrency/worker-thread.ts';

export interface CheckpointQuestion {
  readonly file: string;
}

/** Whether the checkpoint was completed; another process may have been in the way. */
export type CheckpointAnswer = boolean;

answerQuestions(({ file }: CheckpointQuestion): CheckpointAnswer => {
  try {
    using database = openAsItIs(file);
    database.exec('PRAGMA synchronous = FULL');
    return database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get()?.busy === 0;
  } catch {
    return false;
  }
});

/** Opens an existing database only; a missing file is not created. */
function openAsItIs(file: string): DatabaseSync {
  const url = new URL('file:');
  url.pathname = file;
  url.searchParams.set('mode', 'rw');
  return new DatabaseSync(url, { timeout: 0 });
}
