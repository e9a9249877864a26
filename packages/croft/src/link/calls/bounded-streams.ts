import type { Readable, Writable } from 'node:stream';
import { AppError } from '@croft/protocol';

/** Large bodies are cut into pieces of this size, so that idle timeouts see progress. */
const pieceBytes = 256 * 1024;

/**
 * Yields the pieces of a stream. Throws `E_TIMEOUT` if the stream delivers nothing for `idleMs`. `null` means no limit.
 */
export async function* withIdleTimeout(stream: Readable, idleMs: number | null): AsyncGenerator<Buffer> {
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

interface CollectBytesOptions {
  readonly maxBytes: number;
  /** The error for a sender that exceeds `maxBytes`. */
  tooMuch(): AppError;
  /** The longest pause between two pieces. Without it, there is no limit. */
  readonly idleMs?: number | null | undefined;
}

/** Collects a whole stream into one buffer. Uses events, because an async iterator would join the pieces once more. */
export function collectBytes(
  stream: Readable,
  { maxBytes, tooMuch, idleMs = null }: CollectBytesOptions,
): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const pieces: Buffer[] = [];
  let size = 0;
  const timer = idleMs === null ? undefined : setTimeout(() => stream.destroy(stalledError(idleMs)), idleMs);
  stream.on('data', (piece: Buffer) => {
    timer?.refresh();
    size += piece.length;
    pieces.push(piece);
    if (size > maxBytes) stream.destroy(tooMuch());
  });
  stream.once('end', () => resolve(join(pieces, size)));
  stream.once('error', reject);
  // Has no effect after `end`.
  stream.once('close', () =>
    reject(new AppError('E_CANCELLED', 'the connection ended before all of the bytes arrived')),
  );
  return promise.finally(() => clearTimeout(timer));
}

function join(pieces: readonly Buffer[], size: number): Buffer {
  const [only] = pieces;
  return pieces.length === 1 && only ? only : Buffer.concat(pieces, size);
}

export function* toPieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += pieceBytes) yield bytes.subarray(start, start + pieceBytes);
}

interface SendOptions {
  /** Aborts when the bytes are no longer needed. Sending stops, and the caller knows the reason from its own signal. */
  readonly signal: AbortSignal;
  /** `onStalled` is called when the reader takes no piece for this long. Without it, there is no limit. */
  readonly idleMs?: number | null | undefined;
  onStalled?(reason: AppError): void;
}

/** Sends the pieces at the pace of the reader and ends the stream. Returns how many bytes were sent. */
export async function sendPieces(
  stream: Writable,
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  { signal, idleMs = null, onStalled = () => {} }: SendOptions,
): Promise<number> {
  // The caller learns of an error from the answer of the call.
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
  return sendPieces(stream, toPieces(Buffer.from(JSON.stringify(value))), options);
}

function write(stream: Writable, piece: Uint8Array): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  stream.write(piece, () => resolve());
  return promise;
}

/** Returns a function that stops the timer. */
function startWaiting(idleMs: number | null, onLate: (reason: AppError) => void): () => void {
  if (idleMs === null) return () => {};
  const timer = setTimeout(() => onLate(stalledError(idleMs)), idleMs);
  return () => clearTimeout(timer);
}

export function stalledError(idleMs: number): AppError {
  return new AppError('E_TIMEOUT', `nothing has come from the other machine for ${idleMs / 1000} s`);
}
