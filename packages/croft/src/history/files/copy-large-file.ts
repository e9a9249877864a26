import { constants } from 'node:fs';
import { copyFile, type FileHandle, open } from 'node:fs/promises';

const { COPYFILE_EXCL, COPYFILE_FICLONE_FORCE } = constants;
const pieceBytes = 1024 * 1024;
const zeros = Buffer.alloc(pieceBytes);

/**
 * Copies `size` bytes of an open file to a new path, in pieces, so that other work gets turns. Holes stay holes: a file
 * of holes can have any size at no cost, and a copy that wrote them out would fill the disk.
 */
export async function copyLargeFile(from: number, to: Buffer, size: number, signal?: AbortSignal): Promise<void> {
  const source = `/proc/self/fd/${from}`;
  const isShared = await copyFile(source, to, COPYFILE_EXCL | COPYFILE_FICLONE_FORCE).then(
    () => true,
    () => false,
  );
  if (!isShared) await copyPieces(source, to, size, signal);
}

async function copyPieces(from: string, to: Buffer, size: number, signal?: AbortSignal): Promise<void> {
  await using source = await open(from);
  await using target = await open(to, 'wx', 0o600);
  const piece = Buffer.allocUnsafeSlow(pieceBytes);
  for (let at = 0; at < size; ) {
    signal?.throwIfAborted();
    const { bytesRead } = await source.read(piece, 0, Math.min(pieceBytes, size - at), at);
    if (bytesRead === 0) break;
    const read = piece.subarray(0, bytesRead);
    if (!read.equals(zeros.subarray(0, bytesRead))) await writeAll(target, read, at);
    at += bytesRead;
  }
  await target.truncate(size);
}

async function writeAll(target: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; )
    done += (await target.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
}
