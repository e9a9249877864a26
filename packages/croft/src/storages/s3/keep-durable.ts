import { closeSync, fsync } from 'node:fs';
import { dirname } from 'node:path/posix';
import { promisify } from 'node:util';
import { inParallel } from '../../lib/in-parallel.ts';
import type { Ground } from './ground.ts';
import { keyOf } from './keys.ts';
import { findLocalChanges } from './local-changes.ts';
import { isGone, openForReading, withSpot } from './local-file.ts';

const sync = promisify(fsync);
const syncsAtATime = 16;

/**
 * What waits here for a bucket that does not answer is all there is of it: it has to outlive the power. Answers the
 * paths.
 */
export async function keepDurable(ground: Ground, signal?: AbortSignal): Promise<string[]> {
  const { changes } = await findLocalChanges(ground, signal);
  const isOfFile = changes.filter(({ before, after }) => before?.kind !== 'directory' || after?.kind !== 'directory');
  const directories = new Set(isOfFile.map(({ path }) => dirname(path)));
  const files = isOfFile.filter(({ after }) => after?.kind === 'file').map(({ path }) => path);
  await inParallel(files, syncsAtATime, (path) => syncAt(ground, path));
  await inParallel(directories, syncsAtATime, (path) => syncAt(ground, path));
  const waiting = new Map(changes.map(({ path, after }) => [keyOf(path) ?? '', after?.hash ?? '']));
  ground.manifest.change(() => ground.manifest.setWaiting(waiting));
  return isOfFile.map(({ path }) => path);
}

async function syncAt(ground: Ground, path: string): Promise<void> {
  try {
    await withSpot(ground.handle, path, async (spot) => {
      const handle = openForReading(spot);
      await sync(handle).finally(() => closeSync(handle));
    });
  } catch (thrown) {
    if (!isGone(thrown)) throw thrown;
  }
}
