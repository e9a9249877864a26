import { inParallel } from '../../lib/in-parallel.ts';
import { type Ground, objectKey, requestsAtATime } from './ground.ts';
import { describeObject, toSecond } from './object-entries.ts';
import { type Settled, settle } from './settle.ts';
import { clearTombstones } from './tombstones.ts';

/**
 * Finishes a commit that was cut off: what it had put is found by its mark on the objects, told and noted. What it had not
 * put yet still differs from what we know, and is committed with the next.
 */
export async function recover(ground: Ground, signal?: AbortSignal): Promise<void> {
  const { manifest } = ground;
  const intent = manifest.intent();
  if (intent) {
    const settled: Settled[] = [];
    await inParallel(intent.keys, requestsAtATime, async (key) => {
      const found = await lookAt(ground, key, intent.id, signal);
      if (found) settled.push(found);
    });
    await settle(ground, { id: intent.id, settled }, signal);
  }
  await clearTombstones(ground, manifest.tombstones(), { signal });
}

async function lookAt(ground: Ground, key: string, id: string, signal?: AbortSignal): Promise<Settled | undefined> {
  const there = await ground.objects.head(objectKey(ground, key), signal);
  if (!there) return undefined;
  const { kind, mode, hash, write } = describeObject(there);
  if (write !== id) return undefined;
  if (kind === 'deleted') return { key, buriedBy: id };
  if (hash === undefined) return undefined;
  const size = kind === 'directory' ? 0 : there.size;
  return { key, known: { kind, mode, size, hash, etag: there.etag, modifiedAt: toSecond(there.modifiedAt) } };
}
