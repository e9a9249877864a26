import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { ObjectStore } from '../../core/objects.ts';
import { parseJson } from './json-objects.ts';
import { readBounded } from './read-bounded.ts';
import { condemnedKey } from './store-keys.ts';

const Sentence = z.object({
  /** How many sweeps there have been. */
  sweeps: z.int().min(0),
  /** The one that is under way. */
  sweeping: z.string().nullable(),
  /** Contents that nothing reached, and when that was found: in milliseconds by the clock of the service. */
  contents: z.record(z.string(), z.number()),
});
export type Sentence = z.output<typeof Sentence>;

export interface SeenSentence extends Sentence {
  readonly etag: string | undefined;
}

export type Condemned = ReturnType<typeof createCondemned>;

/** A sweep deletes nothing after this long; whoever waits for one waits a little longer. */
export const maxSweepMs = 60_000;
const maxWaitMs = 90_000;
const pollMs = 250;
const maxBytes = 64 << 20;
const none: SeenSentence = { sweeps: 0, sweeping: null, contents: {}, etag: undefined };

/**
 * Which contents are going to be deleted. Stores have no conditional delete, so that whoever needs such a content must
 * not rely on it being there: it counts as lacking, is put again and is thereby younger than its sentence, which the
 * sweep spares. One that is put again while a sweep is under way may still meet a delete, and is looked at once more.
 */
export function createCondemned(objects: ObjectStore, namespace: string) {
  const key = condemnedKey(namespace);
  let last = none;
  /** One whose server died. */
  let over: string | null = null;

  async function read(): Promise<SeenSentence> {
    const found = await objects.get(key, last.etag === undefined ? {} : { unlessEtag: last.etag });
    if (found === undefined) last = none;
    else if (found !== 'unchanged') {
      const parsed = Sentence.safeParse(parseJson(await readBounded(found.body, maxBytes)));
      // What somebody put there is written over by the next collect, and condemns nothing.
      last = { ...(parsed.success ? parsed.data : none), etag: found.etag };
    }
    return last.sweeping === over ? { ...last, sweeping: null } : last;
  }

  /** Answers whether nobody else was faster. */
  async function replace(seen: SeenSentence, next: Sentence): Promise<SeenSentence | undefined> {
    const bytes = Buffer.from(JSON.stringify(next));
    const expect = seen.etag === undefined ? 'absent' : { etag: seen.etag };
    const put = await objects.put(key, { size: bytes.length, open: () => bytes }, { expect });
    return put === 'refused' ? undefined : { ...next, etag: put.etag };
  }

  /** Until nobody sweeps. One whose server died is over after a while. */
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
