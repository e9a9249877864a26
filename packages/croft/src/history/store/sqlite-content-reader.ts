import { createHash } from 'node:crypto';
import { sha256 } from '../../lib/crypto/sha256.ts';
import { unpack } from './compress-rows.ts';
import { missingContent, rottenContent } from './history-store-errors.ts';
import { type HistoryConnection, retryWhileBusy } from './sqlite-connection.ts';

/** Reads contents and hashes them again. Throws for a damaged content. */
export function createSqliteContentReader(reader: HistoryConnection) {
  const find = (hash: string) =>
    retryWhileBusy(() =>
      reader.one('SELECT id, size, bytes, packing FROM contents WHERE hash = ?', Buffer.from(hash, 'hex')),
    );

  async function* open(hash: string): AsyncGenerator<Buffer> {
    const row = await find(hash);
    if (!row) throw missingContent(hash);
    if (row.bytes === null) return yield* openPieces(reader, hash, Number(row.id), Number(row.size));
    const bytes = unpack(row, Number(row.size));
    if (bytes === undefined || sha256(bytes) !== hash) throw rottenContent(hash);
    yield bytes;
  }

  async function read(hash: string): Promise<Buffer> {
    const pieces = await Array.fromAsync(open(hash));
    return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
  }

  return { read, open };
}

async function* openPieces(
  reader: HistoryConnection,
  hash: string,
  content: number,
  size: number,
): AsyncGenerator<Buffer> {
  const hasher = createHash('sha256');
  for (let [part, left] = [0, size]; left > 0; part++) {
    const sql = 'SELECT bytes, packing FROM pieces WHERE content = ? AND part = ?';
    const row = await retryWhileBusy(() => reader.one(sql, content, part));
    const bytes = row && unpack(row, left);
    if (bytes === undefined) throw rottenContent(hash);
    hasher.update(bytes);
    left -= bytes.byteLength;
    // The last piece is returned only after the hash of all pieces is verified.
    if (left <= 0 && hasher.digest('hex') !== hash) throw rottenContent(hash);
    yield bytes;
  }
}
