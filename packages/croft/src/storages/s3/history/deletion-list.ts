import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { ObjectStore } from '../../../core/storage/object-store.ts';
import { parseJson } from '../../../lib/text/parse-json.ts';
import { readBoundedBody } from '../client/read-bounded-body.ts';
import { deletionListKey } from '../layout/history-keys.ts';

const DeletionEntries = z.object({
  /** Number of sweeps so far. */
  sweeps: z.int().min(0),
  /** Id of the sweep that is running. */
  sweeping: z.string().nullable(),
  /** Unreachable contents, each with the time it was found unreachable, in milliseconds by the clock of the service. */
  contents: z.record(z.string(), z.number()),
});
type Sentence = z.output<typeof DeletionEntries>;

export interface DeletionEntriesWithEtag extends Sentence {
  readonly etag: string | undefined;
}

export type DeletionList = ReturnType<typeof createDeletionList>;

/** A sweep deletes nothing after this long. Servers that wait for a sweep wait a little longer. */
export const maxSweepMs = 60_000;
const maxWaitMs = 90_000;
const pollMs = 250;
const maxBytes = 64 << 20;
const none: DeletionEntriesWithEtag = { sweeps: 0, sweeping: null, contents: {}, etag: undefined };

/**
 * The list of contents that are going to be deleted, stored as one object in the bucket. S3 stores have no conditional
 * delete, so a server that needs a listed content must not rely on it: the server treats it as missing and puts it
 * again. The new object is younger than its entry in the list, and the sweep spares it. A content that is put while a
 * sweep runs may still be deleted, so the server checks it once more.
 */
export function createDeletionList(objects: ObjectStore, namespace: string) {
  const key = deletionListKey(namespace);
  let last = none;
  /** Id of a sweep whose server died. */
  let over: string | null = null;

  async function read(): Promise<DeletionEntriesWithEtag> {
    const found = await objects.get(key, last.etag === undefined ? {} : { unlessEtag: last.etag });
    if (found === undefined) last = none;
    else if (found !== 'unchanged') {
      const parsed = DeletionEntries.safeParse(parseJson(await readBoundedBody(found.body, maxBytes)));
      // Invalid content is ignored, and overwritten by the next collection.
      last = { ...(parsed.success ? parsed.data : none), etag: found.etag };
    }
    return last.sweeping === over ? { ...last, sweeping: null } : last;
  }

  /** Returns `undefined` if another server replaced the list first. */
  async function replace(seen: DeletionEntriesWithEtag, next: Sentence): Promise<DeletionEntriesWithEtag | undefined> {
    const bytes = Buffer.from(JSON.stringify(next));
    const expect = seen.etag === undefined ? 'absent' : { etag: seen.etag };
    const put = await objects.put(key, { size: bytes.length, open: () => bytes }, { expect });
    return put === 'refused' ? undefined : { ...next, etag: put.etag };
  }

  /** Waits until no sweep runs. A sweep that does not end counts as over after `maxWaitMs`: its server died. */
  async function waitForSweep(): Promise<void> {
    let since = performance.now();
    let { sweeping } = await read();
    while (sweeping !== null) {
      await pause(pollMs);
      const { sweeping: next } = await read();
      if (next !== sweeping) since = performance.now();
      else if (performance.now() - since > maxWaitMs) over = next;
      sweeping = next === over ? null : next;
    }
  }

  return { read, replace, waitForSweep };
}
