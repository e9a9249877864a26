import { createHash } from 'node:crypto';
import type { Content } from '../../core/history/ports/history-store.ts';
import { createTurns } from '../../lib/concurrency/turns.ts';
import { unfitContent } from './history-store-errors.ts';
import { type HistoryConnection, retryWhileBusy } from './sqlite-connection.ts';
import { createSqliteContentReader } from './sqlite-content-reader.ts';

const pieceBytes = 1024 * 1024;

type Turn = ReturnType<typeof createTurns>;
type Change = <T>(work: () => Promise<T>) => Promise<T>;

/** Contents by hash. Callers make changes inside a transaction of the writer. */
export function createSqliteContents(writer: HistoryConnection, reader: HistoryConnection) {
  return { ...createPutting(writer, reader), ...createSqliteContentReader(reader) };
}

function createPutting(writer: HistoryConnection, reader: HistoryConnection) {
  /** Reads the generation inside a transaction, in which no other process changes it. */
  function generation(): { readonly now: number; readonly isCollecting: boolean } {
    const row = writer.one('SELECT generation, collecting FROM meta');
    return { now: Number(row?.generation), isCollecting: row?.collecting !== 0 };
  }

  /** Returns whether the content exists. If it does, a collection in progress keeps it. */
  function touch(hash: Buffer, { now, isCollecting }: ReturnType<typeof generation>): boolean {
    if (!isCollecting) return isStored(writer, hash);
    return writer.run('UPDATE contents SET generation = ? WHERE hash = ?', now, hash).changes > 0;
  }

  function insert(hash: Buffer, size: number, now: number, bytes: Uint8Array | null): number {
    return writer.run(
      'INSERT INTO contents (hash, size, generation, bytes) VALUES (?, ?, ?, ?)',
      hash,
      size,
      now,
      bytes,
    ).id;
  }

  async function put(contents: readonly Content[]): Promise<void> {
    const [current, turn] = [generation(), createTurns()];
    for (const content of contents) await putOne(content, current, turn);
  }

  async function putOne({ hash, size, bytes }: Content, current: ReturnType<typeof generation>, turn: Turn) {
    const key = Buffer.from(hash, 'hex');
    await turn();
    if (touch(key, current)) return;
    if (bytes instanceof Uint8Array && bytes.byteLength <= pieceBytes) {
      insert(key, size, current.now, bytes);
      return;
    }
    const pieces = bytes instanceof Uint8Array ? one(bytes) : bytes();
    const content = insert(key, size, current.now, null);
    if ((await putPieces(writer, { content, hash }, pieces, turn)) !== size) throw unfitContent(hash);
  }

  async function ask(hashes: readonly string[], has: (hash: Buffer) => boolean): Promise<Set<string>> {
    const [missing, turn] = [new Set<string>(), createTurns()];
    for (const hash of hashes) {
      if (!has(Buffer.from(hash, 'hex'))) missing.add(hash);
      await turn();
    }
    return missing;
  }

  async function lacks(hashes: readonly string[], change: Change): Promise<Set<string>> {
    const { collecting = 0 } = (await retryWhileBusy(() => reader.one('SELECT collecting FROM meta'))) ?? {};
    // A caller that is told that a content exists will not store it, so the content has to stay.
    if (collecting !== 0)
      return change(() => {
        const current = generation();
        return ask(hashes, (hash) => touch(hash, current));
      });
    return ask(hashes, (hash) => isStored(reader, hash));
  }

  return { put, lacks };
}

function isStored(connection: HistoryConnection, hash: Buffer): boolean {
  return connection.one('SELECT 1 FROM contents WHERE hash = ?', hash) !== undefined;
}

/** Returns the number of bytes stored. */
async function putPieces(
  writer: HistoryConnection,
  { content, hash }: { content: number; hash: string },
  pieces: AsyncIterable<Uint8Array>,
  turn: Turn,
): Promise<number> {
  const hasher = createHash('sha256');
  let [size, part] = [0, 0];
  for await (const piece of pieces) {
    hasher.update(piece);
    size += piece.byteLength;
    for (const each of cut(piece)) {
      writer.run('INSERT INTO pieces (content, part, bytes) VALUES (?, ?, ?)', content, part++, each);
      await turn();
    }
  }
  if (hasher.digest('hex') !== hash) throw unfitContent(hash);
  return size;
}

function* cut(piece: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < piece.byteLength; at += pieceBytes) yield piece.subarray(at, at + pieceBytes);
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield* cut(bytes);
}
