import { closeSync, fsync } from 'node:fs';
import { dirname } from 'node:path/posix';
import { promisify } from 'node:util';
import { inParallel } from '../../../../lib/concurrency/in-parallel.ts';
import { keyOfPath } from '../../layout/object-keys.ts';
import { findLocalChanges } from '../working-copy/local-changes.ts';
import type { MountContext } from '../working-copy/mount-context.ts';
import { isGone, openForReading, withParentOpen } from '../working-copy/with-parent-open.ts';

const sync = promisify(fsync);
const syncsAtATime = 16;

/**
 * Syncs all uncommitted changes to the disk, because during an outage they exist nowhere else and must survive a power
 * cut. Records them as waiting in the manifest, and returns their paths.
 */
export async function fsyncUncommittedFiles(context: MountContext, signal?: AbortSignal): Promise<string[]> {
  const { changes } = await findLocalChanges(context, signal);
  const isOfFile = changes.filter(({ before, after }) => before?.kind !== 'directory' || after?.kind !== 'directory');
  const directories = new Set(isOfFile.map(({ path }) => dirname(path)));
  const files = isOfFile.filter(({ after }) => after?.kind === 'file').map(({ path }) => path);
  await inParallel(files, syncsAtATime, (path) => syncAt(context, path));
  await inParallel(directories, syncsAtATime, (path) => syncAt(context, path));
  const waiting = new Map(changes.map(({ path, after }) => [keyOfPath(path) ?? '', after?.hash ?? '']));
  context.manifest.change(() => context.manifest.setWaiting(waiting));
  return isOfFile.map(({ path }) => path);
}

async function syncAt(context: MountContext, path: string): Promise<void> {
  try {
    await withParentOpen(context.handle, path, async (fdPath) => {
      const handle = openForReading(fdPath);
      await sync(handle).finally(() => closeSync(handle));
    });
  } catch (thrown) {
    if (!isGone(thrown)) throw thrown;
  }
}
