import { inParallel } from '../../../../lib/concurrency/in-parallel.ts';
import { describeObject, toSecond } from '../../layout/object-metadata.ts';
import { type MountContext, objectKey, requestsAtATime } from '../working-copy/mount-context.ts';
import { publishCommit, type RecordedObject } from '../working-copy/publish-commit.ts';
import { clearTombstones } from './tombstones.ts';

/**
 * Finishes an interrupted commit: finds the objects it put by its id in their metadata, publishes them in the head and
 * records them in the manifest. Changes that it had not put yet still differ from the manifest, and the next commit
 * takes them.
 */
export async function finishInterruptedCommit(context: MountContext, signal?: AbortSignal): Promise<void> {
  const { manifest } = context;
  const intent = manifest.intent();
  if (intent) {
    const recorded: RecordedObject[] = [];
    await inParallel(intent.keys, requestsAtATime, async (key) => {
      const found = await findOwnWrite(context, key, intent.id, signal);
      if (found) recorded.push(found);
    });
    await publishCommit(context, { id: intent.id, settled: recorded }, signal);
  }
  await clearTombstones(context, manifest.tombstones(), { signal });
}

async function findOwnWrite(
  context: MountContext,
  key: string,
  id: string,
  signal?: AbortSignal,
): Promise<RecordedObject | undefined> {
  const current = await context.objects.head(objectKey(context, key), signal);
  if (!current) return undefined;
  const { kind, mode, hash, write } = describeObject(current);
  if (write !== id) return undefined;
  if (kind === 'deleted') return { key, buriedBy: id };
  if (hash === undefined) return undefined;
  const size = kind === 'directory' ? 0 : current.size;
  return { key, known: { kind, mode, size, hash, etag: current.etag, modifiedAt: toSecond(current.modifiedAt) } };
}
