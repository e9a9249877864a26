import { randomBytes } from 'node:crypto';
import type { ObjectHead, PutCondition } from '../../../../core/storage/object-store.ts';
import { inParallel } from '../../../../lib/concurrency/in-parallel.ts';
import { claimBody, describeObject, tombstone, tombstoneMetadata } from '../../layout/object-metadata.ts';
import { type MountContext, objectKey, requestsAtATime } from '../working-copy/mount-context.ts';

/**
 * The server that put a tombstone deletes it, with a delete that no store makes conditional. The delete must never hit
 * a file that another server put in its place. So a server deletes only within `deleteWithinMs` of having put the
 * tombstone, and the others replace it only after they saw it unchanged for longer (`leaveAloneMs`).
 */
const deleteWithinMs = 3_000;
const leaveAloneMs = 10_000;
const waitMs = 20_000;
const pollMs = 200;
const maxBatch = 1000;

export function isTombstone(object: ObjectHead): boolean {
  return describeObject(object).kind === 'deleted';
}

/** Replaces an object by a tombstone. `refused`: the object is not the expected one. */
export function putTombstone(context: MountContext, key: string, etag: string, write: string, signal?: AbortSignal) {
  return put(context, key, { body: tombstone, etag, write, signal });
}

/**
 * Deletes tombstones; the map gives the commit that put each. A tombstone that is too old is first replaced by a claim
 * with a unique body, so that exactly one server wins the right to delete it.
 */
export async function clearTombstones(
  context: MountContext,
  tombstones: ReadonlyMap<string, string>,
  options: { putAt?: number | undefined; signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const { putAt = Number.NEGATIVE_INFINITY, signal } = options;
  const keys = [...tombstones.keys()];
  for (let from = 0; from < keys.length; from += maxBatch) {
    const batch = keys.slice(from, from + maxBatch);
    const isFresh = performance.now() - putAt < deleteWithinMs;
    const ours = isFresh ? batch : await claim(context, batch, tombstones, signal);
    const soon = AbortSignal.timeout(deleteWithinMs);
    await context.objects.remove(
      ours.map((key) => objectKey(context, key)),
      signal ? AbortSignal.any([signal, soon]) : soon,
    );
    context.manifest.change(() => batch.forEach(context.manifest.dropTombstone));
  }
}

async function claim(
  context: MountContext,
  keys: readonly string[],
  writes: ReadonlyMap<string, string>,
  signal?: AbortSignal,
): Promise<string[]> {
  const ours: string[] = [];
  await inParallel(keys, requestsAtATime, async (key) => {
    const current = await context.objects.head(objectKey(context, key), signal);
    // A tombstone of another commit is deleted by that commit's server.
    if (!current || !isTombstone(current) || describeObject(current).write !== writes.get(key)) return;
    const write = randomBytes(8).toString('hex');
    const body = claimBody(write);
    if ((await put(context, key, { body, etag: current.etag, write, signal })) !== 'refused') ours.push(key);
  });
  return ours;
}

/**
 * Waits until a tombstone is gone, or until its owner cannot delete it any more, and returns the condition for a put in
 * its place. `undefined` if neither happens within `waitMs`.
 */
export async function waitForTombstone(
  context: MountContext,
  met: ObjectHead,
  key: string,
  signal?: AbortSignal,
): Promise<PutCondition | undefined> {
  const startedAt = performance.now();
  let [seen, since] = [met, startedAt];
  while (performance.now() - startedAt < waitMs) {
    await new Promise((resolve) => setTimeout(resolve, pollMs));
    signal?.throwIfAborted();
    const current = await context.objects.head(objectKey(context, key), signal);
    if (!current || !isTombstone(current)) return 'absent';
    const isSame = current.etag === seen.etag && current.modifiedAt.getTime() === seen.modifiedAt.getTime();
    if (!isSame) [seen, since] = [current, performance.now()];
    else if (performance.now() - since > leaveAloneMs) return { etag: current.etag };
  }
  return undefined;
}

/**
 * Returns a function that tells whether a listed tombstone was seen unchanged for so long that its owner will not
 * delete it.
 */
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
  context: MountContext,
  key: string,
  { body, etag, write, signal }: { body: Buffer; etag: string; write: string; signal?: AbortSignal | undefined },
) {
  return context.objects.put(
    objectKey(context, key),
    { size: body.length, open: () => body },
    { expect: { etag }, metadata: tombstoneMetadata(write), contentType: 'text/plain', signal },
  );
}
