import { closeSync, createReadStream, fstatSync, lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { emptyRoot, type TreeEntry, type TreePath } from '../../core/history/tree.ts';
import { type Ground, maxHeldBytes } from './ground.ts';
import { isGone, openForReading, type Spot, withSpot } from './local-file.ts';
import { type Held, hold, holdBytes } from './spool.ts';

/** What is sent for a path: the bytes, and the entry that is of exactly these bytes. */
export interface Outgoing {
  readonly entry: TreeEntry;
  readonly held: Held;
}

/**
 * What stands at a path in this moment, read once: what is put is what was hashed, whatever the file becomes meanwhile.
 * `undefined` when there is nothing of that kind any more.
 */
export async function readOutgoing(
  { handle, spool }: Ground,
  path: TreePath,
  kind: TreeEntry['kind'],
): Promise<Outgoing | undefined> {
  try {
    return await withSpot(handle, path, (spot) => {
      if (kind === 'directory') return readDirectory(spot);
      return kind === 'link' ? readLink(spot) : readFile(spot, spool);
    });
  } catch (thrown) {
    if (isGone(thrown)) return undefined;
    throw thrown;
  }
}

function readDirectory(spot: Spot): Outgoing | undefined {
  const stats = lstatSync(spot);
  if (!stats.isDirectory()) return undefined;
  const entry = { kind: 'directory', mode: stats.mode & 0o777, size: 0, hash: emptyRoot } as const;
  return { entry, held: holdBytes(Buffer.alloc(0)) };
}

function readLink(spot: Spot): Outgoing {
  const held = holdBytes(readlinkSync(spot, { encoding: 'buffer' }));
  return { entry: { kind: 'link', mode: 0o777, size: held.size, hash: held.hash }, held };
}

async function readFile(spot: Spot, spool: string): Promise<Outgoing | undefined> {
  const file = openForReading(spot);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return undefined;
    const isSmall = stats.size <= maxHeldBytes;
    const held = isSmall ? holdBytes(readFileSync(file)) : await hold(piecesOf(file), spool);
    return { entry: { kind: 'file', mode: stats.mode & 0o777, size: held.size, hash: held.hash }, held };
  } finally {
    closeSync(file);
  }
}

function piecesOf(file: number): AsyncIterable<Buffer> {
  return createReadStream('', { fd: file, autoClose: false, start: 0 });
}
