import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { HistoryConnection } from './sqlite-connection.ts';

/** State of a row: not tried yet, packed, or stored as it is because packing does not make it smaller. */
const packings = { untried: 0, packed: 1, asItIs: 2 } as const;

/** For smaller contents the header takes more than packing saves. */
const minBytes = 256;
/** A packed row must be smaller than this part of the original, to be worth unpacking at every read. */
const worthwhile = 0.9;
/** Limits of one transaction: others wait for it. */
const rowsPerTurn = 20;
const bytesPerTurn = 512 * 1024;

const params = { [constants.ZSTD_c_compressionLevel]: 3 };

/**
 * Returns the bytes of a row, unpacked; `undefined` if packed bytes are damaged, or unpack to more than `maxBytes`. Rows
 * that are not packed are not limited.
 */
export function unpack(
  { bytes, packing }: { readonly bytes?: unknown; readonly packing?: unknown },
  maxBytes: number,
): Buffer | undefined {
  if (!(bytes instanceof Uint8Array)) return undefined;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (packing !== packings.packed) return buffer;
  try {
    return zstdDecompressSync(buffer, { maxOutputLength: Math.max(1, maxBytes) });
  } catch {
    return undefined;
  }
}

/** Runs `work` in a transaction, unless the collection is cancelled. */
export type CancellableTransact = <T>(work: () => Promise<T>) => Promise<T | undefined>;

/** Packs contents stored since the last time, in small steps. */
export async function packAll(connection: HistoryConnection, change: CancellableTransact): Promise<void> {
  for (const table of ['contents', 'pieces'] as const) while (await change(async () => packSome(connection, table)));
}

/** Returns the number of rows examined. */
function packSome(connection: HistoryConnection, table: 'contents' | 'pieces'): number {
  const sql = `SELECT id, length(bytes) AS size FROM ${table} WHERE packing = ${packings.untried} ORDER BY id LIMIT ${rowsPerTurn}`;
  let [rows, bytes] = [0, 0];
  for (const { id = 0, size } of connection.all(sql)) {
    if (bytes > bytesPerTurn) break;
    packRow(connection, table, Number(id));
    rows += 1;
    bytes += Number(size ?? 0);
  }
  return rows;
}

function packRow(connection: HistoryConnection, table: string, id: number): void {
  const bytes = connection.one(`SELECT bytes FROM ${table} WHERE id = ?`, id)?.bytes;
  const packed =
    bytes instanceof Uint8Array && bytes.byteLength >= minBytes ? zstdCompressSync(bytes, { params }) : null;
  if (packed && bytes instanceof Uint8Array && packed.byteLength < bytes.byteLength * worthwhile)
    connection.run(`UPDATE ${table} SET bytes = ?, packing = ${packings.packed} WHERE id = ?`, packed, id);
  else connection.run(`UPDATE ${table} SET packing = ${packings.asItIs} WHERE id = ?`, id);
}
