import type { ObjectHead } from '../../../../core/storage/object-store.ts';
import { pathOfFileOrMarker } from '../../layout/object-keys.ts';
import { claimSize, describeObject, tombstone, tombstoneEtag, toSecond } from '../../layout/object-metadata.ts';
import { type MountContext, objectKey } from '../working-copy/mount-context.ts';

type Listed = Omit<ObjectHead, 'metadata'>;

/**
 * Lists all objects of the workspace and returns the keys that differ from the manifest. Finds objects that other tools
 * put, which do not appear in the head, and changes older than the commits that the head names.
 */
export async function compareWithListing(
  context: MountContext,
  isStale: (key: string, object: Listed) => boolean,
  signal?: AbortSignal,
): Promise<{ changed: Set<string>; stale: Set<string> }> {
  const { manifest } = context;
  const gone = new Set(manifest.keys());
  const [changed, stale, times] = [new Set<string>(), new Set<string>(), new Map<string, number>()];
  for await (const [key, object] of listWorkspace(context, signal)) {
    const state = await classify(context, key, object, signal);
    if (state === 'tombstone' && isStale(key, object)) stale.add(key);
    if (state === 'tombstone' || state === 'foreign') continue;
    gone.delete(key);
    if (state === 'changed') changed.add(key);
    if (state === 'unseen') times.set(key, toSecond(object.modifiedAt));
  }
  noteTimes(context, times);
  return { changed: changed.union(gone), stale };
}

export async function* listWorkspace(
  context: Pick<MountContext, 'objects' | 'namespace'>,
  signal?: AbortSignal,
): AsyncIterable<[key: string, object: Listed]> {
  const prefix = objectKey(context, '');
  for await (const page of context.objects.list(prefix, signal ? { signal } : {}))
    for (const object of page) yield [object.key.slice(prefix.length), object];
}

export function isListedTombstone({ size, etag }: Listed): boolean {
  return size === tombstone.length && etag === tombstoneEtag;
}

type State = 'tombstone' | 'foreign' | 'changed' | 'unseen' | 'same';

async function classify(context: MountContext, key: string, object: Listed, signal?: AbortSignal): Promise<State> {
  if (isListedTombstone(object) || (await isClaimed(context, key, object, signal))) return 'tombstone';
  if (pathOfFileOrMarker(key) === undefined) {
    context.warn(describeForeignKey(key));
    return 'foreign';
  }
  const known = context.manifest.get(key);
  if (known?.etag !== object.etag) return 'changed';
  // The answer to our own put did not say the modification time.
  if (known.modifiedAt === undefined) return 'unseen';
  return known.modifiedAt === toSecond(object.modifiedAt) ? 'same' : 'changed';
}

export function describeForeignKey(key: string): string {
  return `an object of the bucket was left out, because its key cannot be the name of a file: ${JSON.stringify(key)}`;
}

/**
 * Whether the object is a claimed tombstone that its owner did not delete. Only a HEAD request can tell it from a file.
 */
async function isClaimed(
  context: MountContext,
  key: string,
  { size, etag }: Listed,
  signal?: AbortSignal,
): Promise<boolean> {
  if (size !== claimSize || context.manifest.get(key)?.etag === etag) return false;
  const current = await context.objects.head(objectKey(context, key), signal);
  return current !== undefined && describeObject(current).kind === 'deleted';
}

function noteTimes({ manifest }: MountContext, times: ReadonlyMap<string, number>): void {
  if (times.size === 0) return;
  manifest.change(() => {
    for (const [key, modifiedAt] of times) {
      const known = manifest.get(key);
      if (known) manifest.put(key, { ...known, modifiedAt });
    }
  });
}
