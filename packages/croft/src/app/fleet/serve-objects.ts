import type { z } from 'zod';
import type { ObjectHead, ObjectStore, ResendableBody } from '../../core/storage/object-store.ts';
import { createConcurrencyLimit } from '../../lib/concurrency/concurrency-limit.ts';
import { createMemoryBudget } from '../../lib/concurrency/memory-budget.ts';
import { sendPieces, withIdleTimeout } from '../../link/calls/bounded-streams.ts';
import type { ServedCall } from '../../link/calls/peer.ts';
import * as methods from '../../link/methods/objects.ts';
import { type LinkHandlers, serveMethod } from './serve-method.ts';

const { channels } = methods;
/** Bytes held in memory of one upload that is sent in parts. */
const maxUploadBufferBytes = 48 * 1024 * 1024;
/** Bytes of uploads that one link has in progress. */
const maxUploadBytesOfLink = 256 * 1024 * 1024;
/**
 * Downloads and listings that one link has in progress. Each may hold a page or a small body that the runner does not
 * read.
 */
const maxReads = 128;
/** Longest pause between two pieces of an upload. Longer than the wait for a cut connection. */
const idleMs = 120_000;

/** Finds a bucket by its id on this link. Throws `E_NOT_FOUND`. */
type FindObjects = (id: string) => Promise<ObjectStore>;

/** Serves buckets to the runner at the other end of a link. The stores themselves restrict the keys. */
export function serveObjects(find: FindObjects): LinkHandlers {
  return {
    ...serveReading(find),
    ...servePuts(find),
    ...serveMethod(methods.removeObjects, async ({ objects, keys }, { signal }) => {
      await (await find(objects)).remove(keys, signal);
      return null;
    }),
    ...serveMethod(methods.copyObject, async ({ objects, from, to }, { signal }) =>
      (await find(objects)).copy(from, to, signal),
    ),
    ...serveMethod(methods.probeObjects, async ({ objects }, { signal }) => (await find(objects)).probe(signal)),
  };
}

function serveReading(find: FindObjects): LinkHandlers {
  const slots = createConcurrencyLimit(maxReads);
  return {
    ...serveMethod(methods.getObject, (wanted, call) => slots.run(() => sendObject(find, wanted, call))),
    ...serveMethod(methods.headObject, async ({ objects, key }, { signal }) => {
      const head = await (await find(objects)).head(key, signal);
      return head ? toWire(head) : null;
    }),
    ...serveMethod(methods.listObjects, (wanted, call) => slots.run(() => sendPages(find, wanted, call))),
  };
}

async function sendObject(find: FindObjects, wanted: z.output<typeof methods.getObject.params>, call: ServedCall) {
  const { objects, key } = wanted;
  const found = await (await find(objects)).get(key, { ...toGetOptions(wanted), signal: call.signal });
  const isObject = typeof found === 'object';
  call.sendMessage({ found: isObject ? toWire(found) : (found ?? 'nothing') });
  if (isObject) await sendPieces(call.writable(channels.answer), found.body, call);
  return null;
}

async function sendPages(find: FindObjects, wanted: z.output<typeof methods.listObjects.params>, call: ServedCall) {
  const { objects, prefix, after } = wanted;
  const { signal } = call;
  const pages = (await find(objects)).list(prefix, after === undefined ? { signal } : { after, signal });
  await sendPieces(call.writable(channels.answer), toLines(pages), call);
  return null;
}

function servePuts(find: FindObjects): LinkHandlers {
  const budget = createMemoryBudget(maxUploadBytesOfLink);
  return serveMethod(methods.putObject, async ({ objects, key, size, metadata, expect, contentType }, call) => {
    const store = await find(objects);
    using _ = await budget.reserve(Math.min(size, maxUploadBufferBytes));
    return store.put(key, toSendable(size, call), { metadata, expect, contentType, signal: call.signal });
  });
}

/** The body arrives once. A retry uses the part that was held in memory. */
function toSendable(size: number, call: ServedCall): ResendableBody {
  return { size, open: () => withIdleTimeout(call.readable(channels.body), idleMs) };
}

type Wanted = Pick<z.output<typeof methods.getObject.params>, 'unlessEtag' | 'range'>;

function toGetOptions({ unlessEtag, range }: Wanted): NonNullable<Parameters<ObjectStore['get']>[1]> {
  const end = range?.end;
  return {
    ...(unlessEtag !== undefined && { unlessEtag }),
    ...(range && { range: { start: range.start, ...(end !== undefined && { end }) } }),
  };
}

async function* toLines(pages: ReturnType<ObjectStore['list']>): AsyncGenerator<Buffer> {
  for await (const page of pages) yield Buffer.from(`${JSON.stringify(page.map(toListed))}\n`);
}

function toListed({ key, etag, size, modifiedAt }: Omit<ObjectHead, 'metadata'>) {
  return { key, etag, size, modifiedMs: modifiedAt.getTime() };
}

function toWire({ metadata, ...head }: ObjectHead): z.input<typeof methods.ObjectHead> {
  return { ...toListed(head), metadata };
}
