import { Readable } from 'node:stream';
import type { z } from 'zod';
import type { ObjectStore, PutOptions, Sendable, StoredObject } from '../../core/objects.ts';
import { send, toPieces } from '../../link/methods/body.ts';
import type { Method } from '../../link/methods/common.ts';
import * as methods from '../../link/methods/objects.ts';
import type { Peer } from '../../link/peer.ts';
import { type Asking, createAsking } from './asking.ts';
import { firstTold } from './first-told.ts';
import { bodyOf, pagesOf, toHead } from './object-streams.ts';
import { toStorageFailure } from './storage-failure.ts';

const { channels } = methods;
type GetOptions = NonNullable<Parameters<ObjectStore['get']>[1]>;

/** The server tries for a while before it takes a bucket for gone. */
const patienceMs = 300_000;

/**
 * What is in the bucket of a workspace, as the server at the other end gives it out: its keys are the server's alone. Where
 * the link is lost the bucket is one that does not answer.
 */
export function createLinkObjects(peer: Peer, objects: string): ObjectStore {
  const asking = createAsking(peer, { patienceMs });
  const ask = <Params extends z.ZodType, Answer extends z.ZodType>(
    method: Method<Params, Answer>,
    params: z.input<Params>,
    signal: AbortSignal | undefined,
  ): Promise<z.output<Answer>> => asking.begin(method, params, { signal }).answer.catch(toStorageFailure);

  return {
    get: (key, options) => getFrom(asking, { objects, key }, options).catch(toStorageFailure),
    async head(key, signal) {
      const head = await ask(methods.headObject, { objects, key }, signal);
      return head === null ? undefined : toHead(head);
    },
    put: (key, body, options) => putInto(asking, { objects, key }, body, options).catch(toStorageFailure),
    async remove(keys, signal) {
      for (let start = 0; start < keys.length; start += methods.maxKeysAtOnce) {
        const some = keys.slice(start, start + methods.maxKeysAtOnce);
        await ask(methods.removeObjects, { objects, keys: some }, signal);
      }
    },
    copy: (from, to, signal) => ask(methods.copyObject, { objects, from, to }, signal),
    list: (prefix, { after, signal } = {}) =>
      pagesOf(() => asking.begin(methods.listObjects, { objects, prefix, after }, { signal }), patienceMs),
    async probe(signal) {
      const { isConditional, reason } = await ask(methods.probeObjects, { objects }, signal);
      return reason === undefined ? { isConditional } : { isConditional, reason };
    },
    // The bucket is the server's to close.
    close() {},
  };
}

async function getFrom(
  asking: Asking,
  at: { readonly objects: string; readonly key: string },
  { unlessEtag, range, signal }: GetOptions = {},
): Promise<StoredObject | 'unchanged' | undefined> {
  const asked = asking.begin(methods.getObject, { ...at, unlessEtag, range }, { signal });
  const { found } = await firstTold(asked, methods.FoundObject, asking);
  if (found === 'nothing') return undefined;
  if (found === 'unchanged') return found;
  const last = Math.min(range?.end ?? Number.POSITIVE_INFINITY, found.size - 1);
  const body = Readable.from(bodyOf(asked, Math.max(last + 1 - (range?.start ?? 0), 0), patienceMs));
  // Also one of which nobody reads a byte.
  body.once('close', () => asked.takeBack(new Error('nobody reads it any more')));
  return { ...toHead(found), body };
}

/** For as long as the server takes it: how long that may be is its caller's to say. */
async function putInto(
  asking: Asking,
  at: { readonly objects: string; readonly key: string },
  body: Sendable,
  { metadata, expect, contentType, signal }: PutOptions = {},
): Promise<{ etag: string } | 'refused'> {
  const params = { ...at, size: body.size, metadata: metadata && { ...metadata }, expect, contentType };
  const asked = asking.begin(methods.putObject, params, { signal });
  try {
    const opened = body.open();
    const pieces = opened instanceof Uint8Array ? toPieces(opened) : opened;
    await send(asked.writable(channels.body), pieces, { signal: asked.settled });
  } catch (thrown) {
    asked.takeBack(thrown);
    throw thrown;
  }
  return asked.answer;
}
