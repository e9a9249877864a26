import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../../lib/sha256.ts';
import { maxHeldBytes } from './ground.ts';

/** Bytes that stay as they are while others change the file or the object they came from. */
export interface Held extends AsyncDisposable {
  readonly size: number;
  readonly hash: string;
  /** Of a large content: a file with it, which may be moved away. */
  readonly file?: string | undefined;
  open(): AsyncIterable<Buffer> | Buffer;
}

export function holdBytes(bytes: Buffer): Held {
  return { size: bytes.length, hash: sha256(bytes), open: () => bytes, async [Symbol.asyncDispose]() {} };
}

/** Takes in what comes in pieces: in memory as long as it is small, else in a file of the spool. */
export async function hold(pieces: AsyncIterable<Uint8Array>, spool: string): Promise<Held> {
  const first: Uint8Array[] = [];
  let size = 0;
  const rest = pieces[Symbol.asyncIterator]();
  for (;;) {
    const { value, done } = await rest.next();
    if (done) return holdBytes(first.length === 1 ? asBuffer(first[0]) : Buffer.concat(first));
    first.push(value);
    size += value.length;
    if (size > maxHeldBytes) return spill(first, { [Symbol.asyncIterator]: () => rest }, spool);
  }
}

async function spill(first: readonly Uint8Array[], rest: AsyncIterable<Uint8Array>, spool: string): Promise<Held> {
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

/** A file with it, which may be moved away: also of what others have made small meanwhile. */
export async function fileOf(held: Held, spool: string): Promise<string> {
  if (held.file !== undefined) return held.file;
  const file = join(spool, randomBytes(12).toString('hex'));
  await writeFile(file, held.open(), { flag: 'wx', mode: 0o600 });
  return file;
}

function asBuffer(bytes: Uint8Array = new Uint8Array()): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
