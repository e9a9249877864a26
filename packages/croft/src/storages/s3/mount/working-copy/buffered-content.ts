import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../../../../lib/crypto/sha256.ts';
import { maxBufferedBytes } from './mount-context.ts';

/** Bytes that stay unchanged while others change the file or the object they came from. */
export interface BufferedContent extends AsyncDisposable {
  readonly size: number;
  readonly hash: string;
  /** For a large content: a file with it, which the caller may move away. */
  readonly file?: string | undefined;
  open(): AsyncIterable<Buffer> | Buffer;
}

export function bufferBytes(bytes: Buffer): BufferedContent {
  return { size: bytes.length, hash: sha256(bytes), open: () => bytes, async [Symbol.asyncDispose]() {} };
}

/** Buffers content that arrives in pieces: in memory while it is small, else in a file of the spool. */
export async function bufferContent(pieces: AsyncIterable<Uint8Array>, spool: string): Promise<BufferedContent> {
  const first: Uint8Array[] = [];
  let size = 0;
  const rest = pieces[Symbol.asyncIterator]();
  for (;;) {
    const { value, done } = await rest.next();
    if (done) return bufferBytes(first.length === 1 ? asBuffer(first[0]) : Buffer.concat(first));
    first.push(value);
    size += value.length;
    if (size > maxBufferedBytes) return writeToSpool(first, { [Symbol.asyncIterator]: () => rest }, spool);
  }
}

async function writeToSpool(
  first: readonly Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
  spool: string,
): Promise<BufferedContent> {
  const file = join(spool, randomBytes(12).toString('hex'));
  const digest = createHash('sha256');
  let size = 0;
  try {
    await using handle = await open(file, 'wx', 0o600);
    const take = async (piece: Uint8Array) => {
      digest.update(piece);
      size += piece.length;
      await handle.writeFile(piece);
    };
    for (const piece of first) await take(piece);
    for await (const piece of rest) await take(piece);
    await handle.sync();
  } catch (thrown) {
    await rm(file, { force: true });
    throw thrown;
  }
  return {
    ...{ size, hash: digest.digest('hex'), file },
    open: () => createReadStream(file),
    [Symbol.asyncDispose]: () => rm(file, { force: true }),
  };
}

/**
 * Returns a spool file with the content, which the caller may move away. Writes one if the content is in memory: a
 * large object may have become small meanwhile.
 */
export async function toSpoolFile(content: BufferedContent, spool: string): Promise<string> {
  if (content.file !== undefined) return content.file;
  const file = join(spool, randomBytes(12).toString('hex'));
  await writeFile(file, content.open(), { flag: 'wx', mode: 0o600 });
  return file;
}

function asBuffer(bytes: Uint8Array = new Uint8Array()): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
