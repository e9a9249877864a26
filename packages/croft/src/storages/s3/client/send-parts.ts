import type { ResendableBody } from '../../../core/storage/object-store.ts';
import type { BucketConnection } from './get-object.ts';
import { sizeDiffers } from './put-object.ts';
import { readRefusal } from './service-errors.ts';
import { withRetries } from './with-retries.ts';

export const partBytes = 8 * 1024 * 1024;
const maxParts = 10_000;
const atOnce = 4;

export interface UploadedPart {
  readonly number: number;
  readonly etag: string;
}

/** Sends all parts, several at a time. When it throws, no request is under way any more. */
export async function sendParts(
  wire: BucketConnection,
  key: string,
  uploadId: string,
  body: ResendableBody,
  signal?: AbortSignal,
) {
  const failing = new AbortController();
  const ended = signal ? AbortSignal.any([signal, failing.signal]) : failing.signal;
  const underWay = new Set<Promise<void>>();
  const parts: UploadedPart[] = [];
  let sent = 0;
  const start = (bytes: Buffer, number: number) => {
    const sending = sendPart(wire, key, { partNumber: String(number), uploadId }, bytes, ended)
      .then((etag) => void parts.push({ number, etag }))
      .finally(() => underWay.delete(sending));
    sending.catch((thrown) => failing.abort(thrown));
    underWay.add(sending);
  };
  try {
    for await (const bytes of inParts(body, Math.max(partBytes, Math.ceil(body.size / maxParts)))) {
      start(bytes, ++sent);
      if (underWay.size >= atOnce) await Promise.race(underWay);
      ended.throwIfAborted();
    }
    await Promise.all(underWay);
  } finally {
    // A part that arrived after the upload was aborted would stay for ever.
    failing.abort();
    await Promise.allSettled(underWay);
  }
  return parts.sort((a, b) => a.number - b.number);
}

/** The signature covers the hash of the part, so a part that was changed on its way is refused. */
async function sendPart(
  wire: BucketConnection,
  key: string,
  query: Record<string, string>,
  body: Buffer,
  signal: AbortSignal,
) {
  return withRetries(wire.retries, signal, async () => {
    const response = await wire.transport.send({ method: 'PUT', key: wire.prefix + key, query, body, signal });
    if (response.statusCode !== 200) throw await readRefusal(response);
    for await (const _ of response);
    return response.headers.etag ?? '';
  });
}

async function* inParts({ size, open }: ResendableBody, length: number): AsyncIterable<Buffer> {
  const opened = open();
  let buffered: Uint8Array[] = [];
  let [bytesLeft, seen] = [length, 0];
  for await (let chunk of opened instanceof Uint8Array ? [opened] : opened) {
    seen += chunk.length;
    if (seen > size) throw sizeDiffers();
    for (; chunk.length >= bytesLeft; bytesLeft = length) {
      yield Buffer.concat([...buffered, chunk.subarray(0, bytesLeft)]);
      buffered = [];
      chunk = chunk.subarray(bytesLeft);
    }
    // Copied, because a source may reuse its chunk.
    if (chunk.length > 0) buffered.push(Uint8Array.from(chunk));
    bytesLeft -= chunk.length;
  }
  if (seen !== size) throw sizeDiffers();
  if (buffered.length > 0) yield Buffer.concat(buffered);
}
