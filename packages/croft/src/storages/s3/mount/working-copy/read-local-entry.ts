import { closeSync, createReadStream, fstatSync, lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { emptyTreeHash, type TreeEntry, type TreePath } from '../../../../core/history/ports/tree.ts';
import { type BufferedContent, bufferBytes, bufferContent } from './buffered-content.ts';
import { type MountContext, maxBufferedBytes } from './mount-context.ts';
import { type FdRelativePath, isGone, openForReading, withParentOpen } from './with-parent-open.ts';

/** A local file, link or directory: its bytes, and the tree entry of exactly these bytes. */
export interface LocalEntry {
  readonly entry: TreeEntry;
  readonly content: BufferedContent;
}

/**
 * Reads what is at a path once: the bytes that are sent are the bytes that were hashed, even if the file changes
 * meanwhile. `undefined` if nothing of that kind is there any more.
 */
export async function readLocalEntry(
  { handle, spool }: MountContext,
  path: TreePath,
  kind: TreeEntry['kind'],
): Promise<LocalEntry | undefined> {
  try {
    return await withParentOpen(handle, path, (fdPath) => {
      if (kind === 'directory') return readDirectory(fdPath);
      return kind === 'link' ? readLink(fdPath) : readFile(fdPath, spool);
    });
  } catch (thrown) {
    if (isGone(thrown)) return undefined;
    throw thrown;
  }
}

function readDirectory(path: FdRelativePath): LocalEntry | undefined {
  const stats = lstatSync(path);
  if (!stats.isDirectory()) return undefined;
  const entry = { kind: 'directory', mode: stats.mode & 0o777, size: 0, hash: emptyTreeHash } as const;
  return { entry, content: bufferBytes(Buffer.alloc(0)) };
}

function readLink(path: FdRelativePath): LocalEntry {
  const content = bufferBytes(readlinkSync(path, { encoding: 'buffer' }));
  return { entry: { kind: 'link', mode: 0o777, size: content.size, hash: content.hash }, content };
}

async function readFile(path: FdRelativePath, spool: string): Promise<LocalEntry | undefined> {
  const file = openForReading(path);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return undefined;
    const isSmall = stats.size <= maxBufferedBytes;
    const content = isSmall ? bufferBytes(readFileSync(file)) : await bufferContent(piecesOf(file), spool);
    return { entry: { kind: 'file', mode: stats.mode & 0o777, size: content.size, hash: content.hash }, content };
  } finally {
    closeSync(file);
  }
}

function piecesOf(file: number): AsyncIterable<Buffer> {
  return createReadStream('', { fd: file, autoClose: false, start: 0 });
}
