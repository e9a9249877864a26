import { createHash } from 'node:crypto';
import { AppError } from '@croft/protocol';
import type { Content, HistoryStore } from '../../../core/history/ports/history-store.ts';
import type { ObjectStore, ResendableBody } from '../../../core/storage/object-store.ts';
import { inParallel } from '../../../lib/concurrency/in-parallel.ts';
import { readBoundedBody } from '../client/read-bounded-body.ts';
import { contentKey, historyPrefix } from '../layout/history-keys.ts';
import { collectS3Garbage } from './collect-garbage.ts';
import { createDeletionList } from './deletion-list.ts';
import { createHistoryNotes } from './history-notes.ts';
import { createKnownContents } from './known-contents.ts';

interface S3HistoryStoreOptions {
  readonly objects: ObjectStore;
  readonly namespace: string;
  /**
   * How long an unreachable content stays: longer than any server takes from asking which contents exist to storing a
   * note that needs them.
   */
  readonly graceMs?: number | undefined;
}

const hourMs = 3_600_000;
const atOnce = 32;
/** Limit for directory listings, and for contents that are small according to their listing. */
const maxReadBytes = 256 << 20;

/**
 * A history store in the bucket of the workspace, beside its files. Any number of servers use it at once: contents
 * never change, a note is one object, and a content is put on the deletion list a while before it is deleted
 * (`deletion-list.ts`).
 */
export function createS3HistoryStore({ objects, namespace, graceMs = hourMs }: S3HistoryStoreOptions): HistoryStore {
  const condemned = createDeletionList(objects, namespace);
  const known = createKnownContents(objects, namespace);
  const notes = createHistoryNotes(objects, namespace);

  /** Returns false if a sweep may have deleted one of the contents meanwhile. */
  async function storeContents(contents: readonly Content[]): Promise<boolean> {
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

  const read = (hash: string) => readBoundedBody(open(hash), maxReadBytes);

  return {
    ...{ open, read },
    findMissing: async (hashes) => (hashes.length === 0 ? new Set() : known.lacks(hashes, await condemned.read())),
    async put(contents, added = []) {
      while (contents.length > 0 && !(await storeContents(contents))) {
        await condemned.waitForSweep();
        known.forget();
      }
      await inParallel(added, atOnce, ({ kind, name, note }) => notes.put(kind, name, note));
    },
    note: (kind, name) => notes.get(kind, name),
    notes: (kind) => notes.all(kind),
    dropNotes: (kind, names) => notes.drop(kind, names),
    collectGarbage: (live) => collectS3Garbage({ objects, namespace, deletionList: condemned, graceMs, read }, live),
    async size() {
      let total = 0;
      for await (const page of objects.list(historyPrefix(namespace))) for (const { size } of page) total += size;
      return total;
    },
    // The mount uses the object store too; its opener closes it.
    [Symbol.asyncDispose]: async () => {},
  };
}

function toSendable({ hash, size, bytes }: Content): ResendableBody {
  return { size, open: () => (bytes instanceof Uint8Array ? bytes : verified(hash, bytes())) };
}

/** Throws at the end if the hash differs, so that nobody takes damaged content for complete. */
async function* verified(hash: string, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const hasher = createHash('sha256');
  for await (const piece of pieces) {
    hasher.update(piece);
    yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
  }
  if (hasher.digest('hex') !== hash) throw broken(`the content ${hash} in the history is damaged: its hash differs`);
}

function broken(message: string): AppError {
  return new AppError('E_STORAGE_FAILED', message);
}
