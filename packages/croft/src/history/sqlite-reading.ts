import { createHash } from 'node:crypto';
import { sha256 } from '../lib/sha256.ts';
import { type SqliteConnection, whenFree } from './sqlite-connection.ts';
import { missingContent, rottenContent } from './sqlite-errors.ts';

/** What is read is hashed again: what has rotted is not given. */
export function createReading(reader: SqliteConnection) {
  const find = (hash: string) =>
    whenFree(() => reader.one('SELECT id, size, bytes FROM contents WHERE hash = ?', Buffer.from(hash, 'hex')));

  async function* open(hash: string): AsyncGenerator<Buffer> {
    const row = await find(hash);
    if (!row) throw missingContent(hash);
    if (!(row.bytes instanceof Uint8Array)) yield* openPieces(reader, hash, Number(row.id), Number(row.size));
    else if (sha256(row.bytes) === hash) yield asBuffer(row.bytes);
    else throw rottenContent(hash);
  }

  async function read(hash: string): Promise<Buffer> {
    const pieces = await Array.fromAsync(open(hash));
    return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
  }

  return { read, open };
}

async function* openPieces(
  reader: SqliteConnection,
  hash: string,
  content: number,
  size: number,
): AsyncGenerator<Buffer> {
  const hasher = createHash('sha256');
  for (let [part, left] = [0, size]; left > 0; part++) {
    const sql = 'SELECT bytes FROM pieces WHERE content = ? AND part = ?';
    const bytes = (await whenFree(() => reader.one(sql, content, part)))?.bytes;
    if (!(bytes instanceof Uint8Array)) throw rottenContent(hash);
    hasher.update(bytes);
    left -= bytes.byteLength;
    // The last piece is given only when all of them are known to be right.
    if (left <= 0 && hasher.digest('hex') !== hash) throw rottenContent(hash);
    yield asBuffer(bytes);
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
