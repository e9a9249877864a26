import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Content } from '../core/history/store.ts';
import { type SqliteConnection, whenFree } from './sqlite-connection.ts';
import { unfitContent } from './sqlite-errors.ts';
import { createReading } from './sqlite-reading.ts';

const pieceBytes = 1024 * 1024;
/** Others get their turn after so much. */
const bytesPerTurn = 4 * pieceBytes;
const rowsPerTurn = 500;

type Change = <T>(work: () => Promise<T>) => Promise<T>;

/** Contents by their hash. What changes is done in a transaction of the writer. */
export function createContents(writer: SqliteConnection, reader: SqliteConnection) {
  return { ...createPutting(writer, reader), ...createReading(reader) };
}

function createPutting(writer: SqliteConnection, reader: SqliteConnection) {
  const turn = createTurns();

  /** Of a transaction, in which nobody else changes it. */
  function generation(): { readonly now: number; readonly isCollecting: boolean } {
    const row = writer.one('SELECT generation, collecting FROM meta');
    return { now: Number(row?.generation), isCollecting: row?.collecting !== 0 };
  }

  /** Whether it is there; and then a collection that is under way leaves it. */
  function touch(hash: Buffer, { now, isCollecting }: ReturnType<typeof generation>): boolean {
    if (!isCollecting) return isThere(writer, hash);
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
    const current = generation();
    for (const content of contents) await putOne(content, current);
  }

  async function putOne({ hash, size, bytes }: Content, current: ReturnType<typeof generation>): Promise<void> {
    const key = Buffer.from(hash, 'hex');
    await turn(bytes instanceof Uint8Array ? bytes.byteLength : 0);
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
    const missing = new Set<string>();
    for (const hash of hashes) {
      if (!has(Buffer.from(hash, 'hex'))) missing.add(hash);
      await turn(0);
    }
    return missing;
  }

  async function lacks(hashes: readonly string[], change: Change): Promise<Set<string>> {
    const { collecting = 0 } = (await whenFree(() => reader.one('SELECT collecting FROM meta'))) ?? {};
    // Whoever is told that it is there does not bring it: it has to stay.
    if (collecting !== 0)
      return change(() => {
        const current = generation();
        return ask(hashes, (hash) => touch(hash, current));
      });
    return ask(hashes, (hash) => isThere(reader, hash));
  }

  return { put, lacks };
}

function isThere(connection: SqliteConnection, hash: Buffer): boolean {
  return connection.one('SELECT 1 FROM contents WHERE hash = ?', hash) !== undefined;
}

/** Answers how many bytes they were. */
async function putPieces(
  writer: SqliteConnection,
  { content, hash }: { content: number; hash: string },
  pieces: AsyncIterable<Uint8Array>,
  turn: (bytes: number) => Promise<void>,
): Promise<number> {
  const hasher = createHash('sha256');
  let [size, part] = [0, 0];
  for await (const piece of pieces) {
    hasher.update(piece);
    size += piece.byteLength;
    for (const each of cut(piece)) {
      writer.run('INSERT INTO pieces (content, part, bytes) VALUES (?, ?, ?)', content, part++, each);
      await turn(each.byteLength);
    }
  }
  if (hasher.digest('hex') !== hash) throw unfitContent(hash);
  return size;
}

/** Lets others have their turn when enough has been done. */
function createTurns() {
  let [bytes, rows] = [0, 0];
  return async (more: number): Promise<void> => {
    bytes += more;
    rows += 1;
    if (bytes < bytesPerTurn && rows < rowsPerTurn) return;
    [bytes, rows] = [0, 0];
    await setImmediate();
  };
}

function* cut(piece: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < piece.byteLength; at += pieceBytes) yield piece.subarray(at, at + pieceBytes);
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
