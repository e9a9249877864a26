import type { Sendable } from '../../core/objects.ts';
import { readRefusal } from './failures.ts';
import type { Wire } from './get-object.ts';
import { sizeDiffers } from './put-object.ts';
import { withRetries } from './retries.ts';

export const partBytes = 8 * 1024 * 1024;
const maxParts = 10_000;
const atOnce = 4;

export interface Part {
  readonly PartNumber: number;
  readonly ETag: string;
}

/** All of them, several at a time. Nothing is under way any more when it fails. */
export async function sendParts(wire: Wire, key: string, uploadId: string, body: Sendable, signal?: AbortSignal) {
  const failing = new AbortController();
  const ended = signal ? AbortSignal.any([signal, failing.signal]) : failing.signal;
  const underWay = new Set<Promise<void>>();
  const parts: Part[] = [];
  let PartNumber = 0;
  const start = (bytes: Buffer, number: number) => {
    const sending = sendPart(wire, key, { partNumber: String(number), uploadId }, bytes, ended)
      .then((ETag) => void parts.push({ PartNumber: number, ETag }))
      .finally(() => underWay.delete(sending));
    sending.catch((thrown) => failing.abort(thrown));
    underWay.add(sending);
  };
  try {
    for await (const bytes of inPieces(body, Math.max(partBytes, Math.ceil(body.size / maxParts)))) {
      start(bytes, ++PartNumber);
      if (underWay.size >= atOnce) await Promise.race(underWay);
      ended.throwIfAborted();
    }
    await Promise.all(underWay);
  } finally {
    // One that came after the upload was taken back would stay for ever.
    failing.abort();
    await Promise.allSettled(underWay);
  }
  return parts.sort((a, b) => a.PartNumber - b.PartNumber);
}

/** Signed with its hash, so that what arrives is what was sent. */
async function sendPart(wire: Wire, key: string, query: Record<string, string>, body: Buffer, signal: AbortSignal) {
  return withRetries(wire.retries, signal, async () => {
    const response = await wire.transport.send({ method: 'PUT', key: wire.prefix + key, query, body, signal });
    if (response.statusCode !== 200) throw await readRefusal(response);
    for await (const _ of response);
    return response.headers.etag ?? '';
  });
}

async function* inPieces({ size, open }: Sendable, length: number): AsyncIterable<Buffer> {
  const opened = open();
  let held: Uint8Array[] = [];
  let [room, seen] = [length, 0];
  for await (let chunk of opened instanceof Uint8Array ? [opened] : opened) {
    seen += chunk.length;
    if (seen > size) throw sizeDiffers();
    for (; chunk.length >= room; room = length) {
      yield Buffer.concat([...held, chunk.subarray(0, room)]);
      held = [];
      chunk = chunk.subarray(room);
    }
    // A source may use its chunk again.
    if (chunk.length > 0) held.push(Uint8Array.from(chunk));
    room -= chunk.length;
  }
  if (seen !== size) throw sizeDiffers();
  if (held.length > 0) yield Buffer.concat(held);
}
