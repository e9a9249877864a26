import { randomBytes } from 'node:crypto';
import type { ObjectHead, PutCondition } from '../../core/objects.ts';
import { inParallel } from '../../lib/in-parallel.ts';
import { type Ground, objectKey, requestsAtATime } from './ground.ts';
import { claimBody, describeObject, tombstone, tombstoneMetadata } from './object-entries.ts';

/**
 * Whoever put a tombstone takes it away, with a delete that no store makes conditional. It must never meet the file that
 * somebody made in its place meanwhile, so that the one only deletes within this time of having put it, and the others
 * only put something in its place after having seen it unchanged for longer.
 */
const deleteWithinMs = 3_000;
const leaveAloneMs = 10_000;
const waitMs = 20_000;
const pollMs = 200;
const maxBatch = 1000;

export function isTombstone(object: ObjectHead): boolean {
  return describeObject(object).kind === 'deleted';
}

/** Puts one in the place of what is there. `refused`: it is not what was expected. */
export function putTombstone(ground: Ground, key: string, etag: string, write: string, signal?: AbortSignal) {
  return put(ground, key, { body: tombstone, etag, write, signal });
}

/**
 * Takes tombstones away, given by which commit each was put. Those that have been there for too long are made new first:
 * with a body of its own, so that exactly one of all who want the place gets it.
 */
export async function clearTombstones(
  ground: Ground,
  tombstones: ReadonlyMap<string, string>,
  options: { putAt?: number | undefined; signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const { putAt = Number.NEGATIVE_INFINITY, signal } = options;
  const keys = [...tombstones.keys()];
  for (let from = 0; from < keys.length; from += maxBatch) {
    const batch = keys.slice(from, from + maxBatch);
    const isFresh = performance.now() - putAt < deleteWithinMs;
    const ours = isFresh ? batch : await claim(ground, batch, tombstones, signal);
    const soon = AbortSignal.timeout(deleteWithinMs);
    await ground.objects.remove(
      ours.map((key) => objectKey(ground, key)),
      signal ? AbortSignal.any([signal, soon]) : soon,
    );
    ground.manifest.change(() => batch.forEach(ground.manifest.dropTombstone));
  }
}

async function claim(
  ground: Ground,
  keys: readonly string[],
  writes: ReadonlyMap<string, string>,
  signal?: AbortSignal,
): Promise<string[]> {
  const ours: string[] = [];
  await inParallel(keys, requestsAtATime, async (key) => {
    const there = await ground.objects.head(objectKey(ground, key), signal);
    // One that somebody else put meanwhile is theirs to take away.
    if (!there || !isTombstone(there) || describeObject(there).write !== writes.get(key)) return;
    const write = randomBytes(8).toString('hex');
    const body = claimBody(write);
    if ((await put(ground, key, { body, etag: there.etag, write, signal })) !== 'refused') ours.push(key);
  });
  return ours;
}

/**
 * How to put something where a tombstone stands: once it is gone, or once whoever put it must have ended before taking it
 * away. `undefined` when it is neither after a while.
 */
export async function passTombstone(
  ground: Ground,
  met: ObjectHead,
  key: string,
  signal?: AbortSignal,
): Promise<PutCondition | undefined> {
  const startedAt = performance.now();
  let [seen, since] = [met, startedAt];
  while (performance.now() - startedAt < waitMs) {
    await new Promise((resolve) => setTimeout(resolve, pollMs));
    signal?.throwIfAborted();
    const there = await ground.objects.head(objectKey(ground, key), signal);
    if (!there || !isTombstone(there)) return 'absent';
    const isSame = there.etag === seen.etag && there.modifiedAt.getTime() === seen.modifiedAt.getTime();
    if (!isSame) [seen, since] = [there, performance.now()];
    else if (performance.now() - since > leaveAloneMs) return { etag: there.etag };
  }
  return undefined;
}

/** Finds tombstones that nobody takes away any more, by having seen them before. */
export function createStaleTombstones() {
  const seen = new Map<string, { etag: string; modifiedAt: number; since: number }>();
  return (key: string, { etag, modifiedAt }: Pick<ObjectHead, 'etag' | 'modifiedAt'>): boolean => {
    const before = seen.get(key);
    const now = performance.now();
    if (before && before.etag === etag && before.modifiedAt === modifiedAt.getTime())
      return now - before.since > leaveAloneMs && seen.delete(key);
    seen.set(key, { etag, modifiedAt: modifiedAt.getTime(), since: now });
    return false;
  };
}

function put(
  ground: Ground,
  key: string,
  { body, etag, write, signal }: { body: Buffer; etag: string; write: string; signal?: AbortSignal | undefined },
) {
  return ground.objects.put(
    objectKey(ground, key),
    { size: body.length, open: () => body },
    { expect: { etag }, metadata: tombstoneMetadata(write), contentType: 'text/plain', signal },
  );
}
