import { createHash } from 'node:crypto';
import { AppError } from '@croft/protocol';
import type { Content, HistoryStore } from '../../core/history/store.ts';
import type { ObjectStore, Sendable } from '../../core/objects.ts';
import { inParallel } from '../../lib/in-parallel.ts';
import { createCondemned } from './condemned.ts';
import { createKnownContents } from './known-contents.ts';
import { readBounded } from './read-bounded.ts';
import { collectContents } from './s3-collect.ts';
import { createNotes } from './s3-notes.ts';
import { contentKey, storePrefix } from './store-keys.ts';

export interface S3StoreOptions {
  readonly objects: ObjectStore;
  readonly namespace: string;
  /** How long a content that nothing reaches stays: longer than anybody takes from asking what is there to noting it. */
  readonly graceMs?: number | undefined;
}

const hourMs = 3_600_000;
const atOnce = 32;
/** Listings, and contents that are small by what listings say. */
const maxReadBytes = 256 << 20;

/**
 * A history in the bucket of the workspace, beside its files. Any number of servers use it at once: contents are never
 * changed, a note is one object, and a content that is to go is said so a while before (`condemned.ts`).
 */
export function createS3Store({ objects, namespace, graceMs = hourMs }: S3StoreOptions): HistoryStore {
  const condemned = createCondemned(objects, namespace);
  const known = createKnownContents(objects, namespace);
  const notes = createNotes(objects, namespace);

  /** Answers whether all of them are sure to stay. */
  async function keepContents(contents: readonly Content[]): Promise<boolean> {
    const sentence = await condemned.read();
    const lacking = await known.lacks(
      contents.map(({ hash }) => hash),
      sentence,
    );
    const isRevival = [...lacking].some((hash) => known.isCondemned(hash, sentence));
    const missing = new Map(contents.filter(({ hash }) => lacking.has(hash)).map((content) => [content.hash, content]));
    await inParallel(missing.values(), atOnce, async (content) => {
      await objects.put(contentKey(namespace, content.hash), toSendable(content));
      known.add(content.hash, sentence);
    });
    if (!isRevival) return true;
    const { sweeping, sweeps } = await condemned.read();
    return sweeping === null && sweeps === sentence.sweeps;
  }

  async function* open(hash: string): AsyncGenerator<Buffer> {
    const found = await objects.get(contentKey(namespace, hash));
    if (found === undefined || found === 'unchanged') throw broken(`the content ${hash} is not in the history`);
    yield* verified(hash, found.body);
  }

  const read = (hash: string) => readBounded(open(hash), maxReadBytes);

  return {
    ...{ open, read },
    lacks: async (hashes) => (hashes.length === 0 ? new Set() : known.lacks(hashes, await condemned.read())),
    async keep(contents, added = []) {
      while (contents.length > 0 && !(await keepContents(contents))) {
        await condemned.waitForSweep();
        known.forget();
      }
      await inParallel(added, atOnce, ({ kind, name, note }) => notes.put(kind, name, note));
    },
    note: (kind, name) => notes.get(kind, name),
    notes: (kind) => notes.all(kind),
    dropNotes: (kind, names) => notes.drop(kind, names),
    collect: (live) => collectContents({ objects, namespace, condemned, graceMs, read }, live),
    async size() {
      let total = 0;
      for await (const page of objects.list(storePrefix(namespace))) for (const { size } of page) total += size;
      return total;
    },
    // The objects are the mount's too, and closed by whoever opened them.
    [Symbol.asyncDispose]: async () => {},
  };
}

function toSendable({ hash, size, bytes }: Content): Sendable {
  return { size, open: () => (bytes instanceof Uint8Array ? bytes : verified(hash, bytes())) };
}

/** Throws in the place of the end, so that nobody takes it for whole. */
async function* verified(hash: string, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const hasher = createHash('sha256');
  for await (const piece of pieces) {
    hasher.update(piece);
    yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
  }
  if (hasher.digest('hex') !== hash) throw broken(`the content ${hash} is not what it should be`);
}

function broken(message: string): AppError {
  return new AppError('E_STORAGE_FAILED', message);
}
