import type { Readable, Writable } from 'node:stream';
import { AppError } from '@croft/protocol';

/** So that progress can be seen within what is one piece to its sender. */
const pieceBytes = 256 * 1024;

/** What comes, for as long as something does: a wait of its reader for more than `idleMs` ends it with `E_TIMEOUT`. */
export async function* steadily(stream: Readable, idleMs: number | null): AsyncGenerator<Buffer> {
  const iterator: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]();
  try {
    for (;;) {
      const stopWaiting = startWaiting(idleMs, (reason) => stream.destroy(reason));
      const next = await iterator.next().finally(stopWaiting);
      if (next.done) return;
      yield next.value;
    }
  } finally {
    stream.destroy();
  }
}

export interface CollectOptions {
  readonly maxBytes: number;
  /** For a sender that does not know its bounds. */
  tooMuch(): AppError;
  /** Between two pieces. Left out: as long as it takes. */
  readonly idleMs?: number | null | undefined;
}

/** All of it, in one piece. By events: an iterator would join the pieces on the way, to be joined again. */
export function collect(stream: Readable, { maxBytes, tooMuch, idleMs = null }: CollectOptions): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const pieces: Buffer[] = [];
  let size = 0;
  const timer = idleMs === null ? undefined : setTimeout(() => stream.destroy(stalled(idleMs)), idleMs);
  stream.on('data', (piece: Buffer) => {
    timer?.refresh();
    size += piece.length;
    pieces.push(piece);
    if (size > maxBytes) stream.destroy(tooMuch());
  });
  stream.once('end', () => resolve(join(pieces, size)));
  stream.once('error', reject);
  // Nothing any more, if it has ended.
  stream.once('close', () => reject(new AppError('E_CANCELLED', 'not all of it has come')));
  return promise.finally(() => clearTimeout(timer));
}

function join(pieces: readonly Buffer[], size: number): Buffer {
  const [only] = pieces;
  return pieces.length === 1 && only ? only : Buffer.concat(pieces, size);
}

export function* toPieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += pieceBytes) yield bytes.subarray(start, start + pieceBytes);
}

export interface SendOptions {
  /** Nobody wants it any more: it stops there, and who waits for that knows why. */
  readonly signal: AbortSignal;
  /** A piece that is not taken for so long is told of. Left out: it takes as long as it takes. */
  readonly idleMs?: number | null | undefined;
  onStalled?(reason: AppError): void;
}

/** Sends and ends it, at the pace of the reader. Answers how much that was. */
export async function send(
  stream: Writable,
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  { signal, idleMs = null, onStalled = () => {} }: SendOptions,
): Promise<number> {
  // Whoever asked hears of it by the answer of the call.
  stream.on('error', () => {});
  const gone = Promise.withResolvers<void>();
  const leave = () => gone.resolve();
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave, { once: true });
  let size = 0;
  try {
    for await (const piece of pieces) {
      if (signal.aborted || stream.destroyed) break;
      size += piece.length;
      if (piece.length === 0) continue;
      const stopWaiting = startWaiting(idleMs, onStalled);
      await Promise.race([write(stream, piece), gone.promise]).finally(stopWaiting);
    }
    if (!signal.aborted) stream.end();
    return size;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

export function sendJson(stream: Writable, value: unknown, options: SendOptions): Promise<number> {
  return send(stream, toPieces(Buffer.from(JSON.stringify(value))), options);
}

function write(stream: Writable, piece: Uint8Array): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  stream.write(piece, () => resolve());
  return promise;
}

/** Answers what ends the wait. */
function startWaiting(idleMs: number | null, onLate: (reason: AppError) => void): () => void {
  if (idleMs === null) return () => {};
  const timer = setTimeout(() => onLate(stalled(idleMs)), idleMs);
  return () => clearTimeout(timer);
}

export function stalled(idleMs: number): AppError {
  return new AppError('E_TIMEOUT', `nothing has come from the other machine for ${idleMs / 1000} s`);
}
