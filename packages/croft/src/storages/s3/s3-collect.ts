import { randomUUID } from 'node:crypto';
import { decodeListing } from '../../core/history/listing.ts';
import { emptyRoot, type Root } from '../../core/history/tree.ts';
import type { ObjectStore } from '../../core/objects.ts';
import { inParallel } from '../../lib/in-parallel.ts';
import { type Condemned, maxSweepMs, type SeenSentence } from './condemned.ts';
import { clockKey, contentKey, contentsPrefix, hashOfKey } from './store-keys.ts';

export interface Collecting {
  readonly objects: ObjectStore;
  readonly namespace: string;
  readonly condemned: Condemned;
  readonly graceMs: number;
  /** A content, whole. */
  read(hash: string): Promise<Buffer>;
}

interface Dead {
  readonly hash: string;
  readonly size: number;
  readonly modifiedMs: number;
}

const atOnce = 32;
const batch = 1000;
/** Everybody who keeps something reads the sentence: what does not fit in comes the next time. */
const maxCondemned = 20_000;

/** Condemns what nothing reaches, and deletes what was condemned long enough ago. Answers how many bytes that was. */
export async function collectContents(collecting: Collecting, live: readonly Root[]): Promise<number> {
  const { condemned, graceMs } = collecting;
  const seen = await condemned.read();
  const now = await readClock(collecting);
  const reached = await reach(collecting, live);
  const dead = await listDead(collecting, reached, now);
  const contents = Object.fromEntries(
    dead.slice(0, maxCondemned).map(({ hash, modifiedMs }) => [hash, sentenceOf(seen, hash, modifiedMs, now)]),
  );
  const isDue = Object.values(contents).some((at) => at <= now - graceMs);
  const sweeping = isDue ? randomUUID() : null;
  // Another server may be at it: then this one has nothing to do.
  if (seen.sweeping !== null && !(await isOver(collecting, seen))) return 0;
  const begun = await condemned.replace(seen, { sweeps: seen.sweeps, sweeping, contents });
  return begun && sweeping !== null ? sweep(collecting, begun, now) : 0;
}

function sentenceOf({ contents }: SeenSentence, hash: string, modifiedMs: number, now: number): number {
  const before = contents[hash];
  return before !== undefined && modifiedMs < before ? before : now;
}

/** Whose server died while it swept: nothing of it can be under way any more. */
async function isOver({ condemned }: Collecting, seen: SeenSentence): Promise<boolean> {
  await condemned.waitForSweep();
  return (await condemned.read()).etag === seen.etag;
}

async function sweep(collecting: Collecting, begun: SeenSentence, now: number): Promise<number> {
  const { objects, namespace, condemned, graceMs } = collecting;
  const until = AbortSignal.timeout(maxSweepMs);
  const isDue = ({ hash, modifiedMs }: Dead) => {
    const at = begun.contents[hash];
    return at !== undefined && at <= now - graceMs && modifiedMs < at;
  };
  const due: Dead[] = [];
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
  await condemned.replace(begun, { sweeps: begun.sweeps + 1, sweeping: null, contents: left });
  return freed;
}

function ignoreEnd(until: AbortSignal): (thrown: unknown) => void {
  return (thrown) => {
    if (!until.aborted) throw thrown;
  };
}

async function listDead(collecting: Collecting, reached: ReadonlySet<string>, now: number): Promise<Dead[]> {
  const dead: Dead[] = [];
  for await (const one of listContents(collecting)) {
    if (!reached.has(one.hash) && one.modifiedMs < now) dead.push(one);
  }
  return dead.sort((one, other) => one.modifiedMs - other.modifiedMs);
}

async function* listContents({ objects, namespace }: Collecting): AsyncIterable<Dead> {
  for await (const page of objects.list(contentsPrefix(namespace))) {
    for (const { key, size, modifiedAt } of page) {
      const hash = hashOfKey(key);
      if (hash !== undefined) yield { hash, size, modifiedMs: modifiedAt.getTime() };
    }
  }
}

/** Every content that these trees hold. A content is a listing where a tree says so, whatever it looks like. */
async function reach({ read }: Collecting, live: readonly Root[]): Promise<Set<string>> {
  const reached = new Set<string>([emptyRoot]);
  const listings = new Set<string>([emptyRoot]);
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

/** By the service, to the fraction of a second that its listings have. */
async function readClock({ objects, namespace }: Collecting): Promise<number> {
  const key = clockKey(namespace, randomUUID());
  await objects.put(key, { size: 0, open: () => Buffer.alloc(0) });
  const pages = await Array.fromAsync(objects.list(key));
  await objects.remove([key]);
  return pages.flat()[0]?.modifiedAt.getTime() ?? 0;
}
