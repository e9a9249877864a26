import { Readable } from 'node:stream';
import type { z } from 'zod';
import type {
  ObjectStore,
  PutObjectOptions,
  ResendableBody,
  StoredObject,
} from '../../../core/storage/object-store.ts';
import { sendPieces, toPieces } from '../../../link/calls/bounded-streams.ts';
import type { Peer } from '../../../link/calls/peer.ts';
import type { LinkMethod } from '../../../link/methods/define-method.ts';
import * as methods from '../../../link/methods/objects.ts';
import { createRpcClient, type RpcClient } from '../rpc/rpc-client.ts';
import { waitForFirstMessage } from '../rpc/wait-for-first-message.ts';
import { bodyOf, pagesOf, toHead } from './read-object-answers.ts';
import { throwStorageFailure } from './throw-storage-failure.ts';

const { channels } = methods;
type GetOptions = NonNullable<Parameters<ObjectStore['get']>[1]>;

/** Long, because the server retries for a while before it reports that a bucket does not answer. */
const patienceMs = 300_000;

/**
 * Runs on a runner: the bucket of a workspace, reached through the server. The server keeps the bucket's credentials.
 * While the link is lost, the bucket counts as one that does not answer.
 */
export function createServerBucket(peer: Peer, objects: string): ObjectStore {
  const rpc = createRpcClient(peer, { patienceMs });
  const ask = <Params extends z.ZodType, Answer extends z.ZodType>(
    method: LinkMethod<Params, Answer>,
    params: z.input<Params>,
    signal: AbortSignal | undefined,
  ): Promise<z.output<Answer>> => rpc.begin(method, params, { signal }).answer.catch(throwStorageFailure);

  return {
    get: (key, options) => getFrom(rpc, { objects, key }, options).catch(throwStorageFailure),
    async head(key, signal) {
      const head = await ask(methods.headObject, { objects, key }, signal);
      return head === null ? undefined : toHead(head);
    },
    put: (key, body, options) => putInto(rpc, { objects, key }, body, options).catch(throwStorageFailure),
    async remove(keys, signal) {
      for (let start = 0; start < keys.length; start += methods.maxKeysAtOnce) {
        const some = keys.slice(start, start + methods.maxKeysAtOnce);
        await ask(methods.removeObjects, { objects, keys: some }, signal);
      }
    },
    copy: (from, to, signal) => ask(methods.copyObject, { objects, from, to }, signal),
    list: (prefix, { after, signal } = {}) =>
      pagesOf(() => rpc.begin(methods.listObjects, { objects, prefix, after }, { signal }), patienceMs),
    async probe(signal) {
      const { isConditional, reason } = await ask(methods.probeObjects, { objects }, signal);
      return reason === undefined ? { isConditional } : { isConditional, reason };
    },
    // The server closes the bucket.
    close() {},
  };
}

async function getFrom(
  rpc: RpcClient,
  at: { readonly objects: string; readonly key: string },
  { unlessEtag, range, signal }: GetOptions = {},
): Promise<StoredObject | 'unchanged' | undefined> {
  const asked = rpc.begin(methods.getObject, { ...at, unlessEtag, range }, { signal });
  const { found } = await waitForFirstMessage(asked, methods.FoundObject, rpc);
  if (found === 'nothing') return undefined;
  if (found === 'unchanged') return found;
  const last = Math.min(range?.end ?? Number.POSITIVE_INFINITY, found.size - 1);
  const body = Readable.from(bodyOf(asked, Math.max(last + 1 - (range?.start ?? 0), 0), patienceMs));
  // Also cancels when nobody reads a byte.
  body.once('close', () => asked.cancel(new Error('the reader closed it')));
  return { ...toHead(found), body };
}

/** No idle timeout here: the caller's signal limits how long the server may take. */
async function putInto(
  rpc: RpcClient,
  at: { readonly objects: string; readonly key: string },
  body: ResendableBody,
  { metadata, expect, contentType, signal }: PutObjectOptions = {},
): Promise<{ etag: string } | 'refused'> {
  const params = { ...at, size: body.size, metadata: metadata && { ...metadata }, expect, contentType };
  const asked = rpc.begin(methods.putObject, params, { signal });
  try {
    const opened = body.open();
    const pieces = opened instanceof Uint8Array ? toPieces(opened) : opened;
    await sendPieces(asked.writable(channels.body), pieces, { signal: asked.finished });
  } catch (thrown) {
    asked.cancel(thrown);
    throw thrown;
  }
  return asked.answer;
}
