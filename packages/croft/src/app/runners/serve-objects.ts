import type { z } from 'zod';
import type { ObjectHead, ObjectStore, Sendable } from '../../core/objects.ts';
import { createBudget } from '../../lib/budget.ts';
import { createSlots } from '../../lib/slots.ts';
import { send, steadily } from '../../link/methods/body.ts';
import * as methods from '../../link/methods/objects.ts';
import type { Incoming } from '../../link/peer.ts';
import { type Handlers, serving } from './serving.ts';

const { channels } = methods;
/** Of one that is sent in parts: more of it is never held. */
const maxHeldBytes = 48 * 1024 * 1024;
/** Of what one link has on its way to buckets. */
const maxHeldOfLink = 256 * 1024 * 1024;
/** Of what one link is sent at once. Each may hold a page or a small body that is not taken. */
const maxReads = 128;
/** Between two pieces of what is sent. More than a cut cable is waited for. */
const idleMs = 120_000;

/** Gives out a bucket by its id on this link. Throws `E_NOT_FOUND`. */
export type FindObjects = (id: string) => Promise<ObjectStore>;

/** Buckets for the other side of a link. Which keys it may name is for the stores themselves to say. */
export function serveObjects(find: FindObjects): Handlers {
  return {
    ...serveReading(find),
    ...servePuts(find),
    ...serving(methods.removeObjects, async ({ objects, keys }, { signal }) => {
      await (await find(objects)).remove(keys, signal);
      return null;
    }),
    ...serving(methods.copyObject, async ({ objects, from, to }, { signal }) =>
      (await find(objects)).copy(from, to, signal),
    ),
    ...serving(methods.probeObjects, async ({ objects }, { signal }) => (await find(objects)).probe(signal)),
  };
}

function serveReading(find: FindObjects): Handlers {
  const slots = createSlots(maxReads);
  return {
    ...serving(methods.getObject, (wanted, call) => slots.run(() => sendObject(find, wanted, call))),
    ...serving(methods.headObject, async ({ objects, key }, { signal }) => {
      const head = await (await find(objects)).head(key, signal);
      return head ? toWire(head) : null;
    }),
    ...serving(methods.listObjects, (wanted, call) => slots.run(() => sendPages(find, wanted, call))),
  };
}

async function sendObject(find: FindObjects, wanted: z.output<typeof methods.getObject.params>, call: Incoming) {
  const { objects, key } = wanted;
  const found = await (await find(objects)).get(key, { ...toGetOptions(wanted), signal: call.signal });
  const isObject = typeof found === 'object';
  call.tell({ found: isObject ? toWire(found) : (found ?? 'nothing') });
  if (isObject) await send(call.writable(channels.answer), found.body, call);
  return null;
}

async function sendPages(find: FindObjects, wanted: z.output<typeof methods.listObjects.params>, call: Incoming) {
  const { objects, prefix, after } = wanted;
  const { signal } = call;
  const pages = (await find(objects)).list(prefix, after === undefined ? { signal } : { after, signal });
  await send(call.writable(channels.answer), toLines(pages), call);
  return null;
}

function servePuts(find: FindObjects): Handlers {
  const budget = createBudget(maxHeldOfLink);
  return serving(methods.putObject, async ({ objects, key, size, metadata, expect, contentType }, call) => {
    const store = await find(objects);
    using _ = await budget.hold(Math.min(size, maxHeldBytes));
    return store.put(key, toSendable(size, call), { metadata, expect, contentType, signal: call.signal });
  });
}

/** It comes once. What is tried again is tried with what was held of it. */
function toSendable(size: number, call: Incoming): Sendable {
  return { size, open: () => steadily(call.readable(channels.body), idleMs) };
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
