import { randomUUID } from 'node:crypto';
import { emptyTreeHash, type TreeHash } from '../../../core/history/ports/tree.ts';
import { decodeListing } from '../../../core/history/trees/listing-codec.ts';
import type { ObjectStore } from '../../../core/storage/object-store.ts';
import { inParallel } from '../../../lib/concurrency/in-parallel.ts';
import { clockKey, contentKey, contentsPrefix, hashOfKey } from '../layout/history-keys.ts';
import { type DeletionEntriesWithEtag, type DeletionList, maxSweepMs } from './deletion-list.ts';

interface S3Collection {
  readonly objects: ObjectStore;
  readonly namespace: string;
  readonly deletionList: DeletionList;
  readonly graceMs: number;
  /** Reads a whole content. */
  read(hash: string): Promise<Buffer>;
}

interface UnreachableContent {
  readonly hash: string;
  readonly size: number;
  readonly modifiedMs: number;
}

const atOnce = 32;
const batch = 1000;
/**
 * Every server that stores something reads the deletion list, so its size is limited. The rest is listed by the next
 * collection.
 */
const maxListed = 20_000;

/**
 * Puts unreachable contents on the deletion list, and deletes those that were on it for `graceMs`. Returns the number
 * of bytes deleted.
 */
export async function collectS3Garbage(collecting: S3Collection, live: readonly TreeHash[]): Promise<number> {
  const { deletionList, graceMs } = collecting;
  const seen = await deletionList.read();
  const now = await readClock(collecting);
  const reached = await findReachable(collecting, live);
  const dead = await listUnreachable(collecting, reached, now);
  const contents = Object.fromEntries(
    dead.slice(0, maxListed).map(({ hash, modifiedMs }) => [hash, listedSince(seen, hash, modifiedMs, now)]),
  );
  const isDue = Object.values(contents).some((at) => at <= now - graceMs);
  const sweeping = isDue ? randomUUID() : null;
  // If another server is sweeping, this one has nothing to do.
  if (seen.sweeping !== null && !(await isSweepOver(collecting, seen))) return 0;
  const begun = await deletionList.replace(seen, { sweeps: seen.sweeps, sweeping, contents });
  return begun && sweeping !== null ? sweep(collecting, begun, now) : 0;
}

function listedSince({ contents }: DeletionEntriesWithEtag, hash: string, modifiedMs: number, now: number): number {
  const before = contents[hash];
  return before !== undefined && modifiedMs < before ? before : now;
}

/** Whether the sweep in the list is over because its server died. */
async function isSweepOver({ deletionList }: S3Collection, seen: DeletionEntriesWithEtag): Promise<boolean> {
  await deletionList.waitForSweep();
  return (await deletionList.read()).etag === seen.etag;
}

async function sweep(collecting: S3Collection, begun: DeletionEntriesWithEtag, now: number): Promise<number> {
  const { objects, namespace, deletionList, graceMs } = collecting;
  const until = AbortSignal.timeout(maxSweepMs);
  const isDue = ({ hash, modifiedMs }: UnreachableContent) => {
    const at = begun.contents[hash];
    return at !== undefined && at <= now - graceMs && modifiedMs < at;
  };
  const due: UnreachableContent[] = [];
  for await (const one of listContents(collecting)) if (isDue(one)) due.push(one);
  const left = { ...begun.contents };
  let freed = 0;
  for (let from = 0; from < due.length && !until.aborted; from += batch) {
    const these = due.slice(from, from + batch);
    await objects
      .remove(
        these.map(({ hash }) => contentKey(namespace, hash)),
        until,
      )
      .catch(ignoreEnd(until));
    if (until.aborted) break;
    for (const { hash, size } of these) {
      delete left[hash];
      freed += size;
    }
  }
  await deletionList.replace(begun, { sweeps: begun.sweeps + 1, sweeping: null, contents: left });
  return freed;
}

function ignoreEnd(until: AbortSignal): (thrown: unknown) => void {
  return (thrown) => {
    if (!until.aborted) throw thrown;
  };
}

async function listUnreachable(
  collecting: S3Collection,
  reached: ReadonlySet<string>,
  now: number,
): Promise<UnreachableContent[]> {
  const dead: UnreachableContent[] = [];
  for await (const one of listContents(collecting)) {
    if (!reached.has(one.hash) && one.modifiedMs < now) dead.push(one);
  }
  return dead.sort((one, other) => one.modifiedMs - other.modifiedMs);
}

async function* listContents({ objects, namespace }: S3Collection): AsyncIterable<UnreachableContent> {
  for await (const page of objects.list(contentsPrefix(namespace))) {
    for (const { key, size, modifiedAt } of page) {
      const hash = hashOfKey(key);
      if (hash !== undefined) yield { hash, size, modifiedMs: modifiedAt.getTime() };
    }
  }
}

/**
 * Collects the hashes of all contents in these trees. A content is a directory listing if a tree says so, whatever its
 * bytes look like.
 */
async function findReachable({ read }: S3Collection, live: readonly TreeHash[]): Promise<Set<string>> {
  const reached = new Set<string>([emptyTreeHash]);
  const listings = new Set<string>([emptyTreeHash]);
  for (let level: string[] = [...live]; level.length > 0; ) {
    const below: string[] = [];
    const fresh = [...new Set(level)].filter((hash) => !listings.has(hash));
    await inParallel(fresh, atOnce, async (hash) => {
      listings.add(hash);
      reached.add(hash);
      for (const entry of decodeListing(await read(hash))) {
        if (entry.kind === 'directory') below.push(entry.hash);
        else reached.add(entry.hash);
      }
    });
    level = below;
  }
  return reached;
}

/** Reads the clock of the service, with the precision of its listings. */
async function readClock({ objects, namespace }: S3Collection): Promise<number> {
  const key = clockKey(namespace, randomUUID());
  await objects.put(key, { size: 0, open: () => Buffer.alloc(0) });
  const pages = await Array.fromAsync(objects.list(key));
  await objects.remove([key]);
  return pages.flat()[0]?.modifiedAt.getTime() ?? 0;
}
