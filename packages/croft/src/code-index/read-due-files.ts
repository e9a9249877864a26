import { AppError } from '@croft/protocol';
import type { Syntax } from '../core/code/syntax.ts';
import type { Files } from '../core/files/files.ts';
import type { ReadFile } from './store-read-files.ts';

/** A file that has to be read, and the number of the change for which. */
export type DueFile = readonly [path: string, change: number];

interface ReadFilesOptions {
  readonly files: Pick<Files, 'read'>;
  readonly syntax: Syntax;
  /** Files that are not read when it aborts are left out. */
  readonly signal: AbortSignal;
}

const readAtOnce = 4;
const maxBytes = 1_000_000;
/** A file that was changed so short a time ago may change again without a new time. */
const racyMs = 1000;
/** Times of listings are tenths of microseconds. */
const perMs = 10_000;

/** Reads and parses files. Files that are gone, or that a link now stands for, are reported as gone. */
export async function readDueFiles(due: readonly DueFile[], options: ReadFilesOptions): Promise<ReadFile[]> {
  const read: ReadFile[] = [];
  let next = 0;
  const lane = async () => {
    for (let each = due[next++]; each !== undefined && !options.signal.aborted; each = due[next++]) {
      const file = await readOne(each, options);
      if (file) read.push(file);
    }
  };
  await Promise.all(Array.from({ length: readAtOnce }, lane));
  return read;
}

async function readOne(
  [path, change]: DueFile,
  { files, syntax, signal }: ReadFilesOptions,
): Promise<ReadFile | undefined> {
  try {
    const file = await files.read(path, { maxBytes });
    if (file.path !== path) return { path, change, time: 0, digest: 'gone' };
    const digest = await syntax.digest({ path, bytes: file.bytes }, signal);
    return { path, change, time: toListedTime(file.mtimeMs), digest };
  } catch (thrown) {
    if (signal.aborted) return undefined;
    if (!AppError.is(thrown)) throw thrown;
    return { path, change, time: 0, digest: thrown.code === 'E_TOO_LARGE' ? undefined : 'gone' };
  }
}

function toListedTime(mtimeMs: number): number {
  return Math.abs(Date.now() - mtimeMs) < racyMs ? 0 : Math.floor(mtimeMs * perMs);
}
