import { closeSync, constants, openSync } from 'node:fs';
import type { TreePath } from '../../../../core/history/ports/tree.ts';
import { at, openDirectory } from '../../../../disk/paths/handles.ts';
import { bytesFromPath } from '../../../../lib/files/path-bytes.ts';

const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** A path `/proc/self/fd/N/name` that addresses a name in an open directory. */
export type FdRelativePath = string | Buffer;

/**
 * Opens the parent directories of a path one at a time, never through a link, and calls `work` with the path below the
 * last one. Throws the errors of the kernel.
 */
export async function withParentOpen<T>(
  rootFd: number,
  path: TreePath,
  work: (entry: FdRelativePath) => T | Promise<T>,
): Promise<T> {
  const names = path.split('/').map((name) => bytesFromPath(name));
  const last = names.pop() ?? Buffer.alloc(0);
  const opened: number[] = [];
  try {
    for (const name of names) opened.push(openDirectory(opened.at(-1) ?? rootFd, name));
    return await work(at(opened.at(-1) ?? rootFd, last));
  } finally {
    for (const handle of opened) closeSync(handle);
  }
}

/** Opens a file for reading. A link fails with `ELOOP`. Never waits for the other end of a pipe. */
export function openForReading(path: FdRelativePath): number {
  return openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
}

export function isGone(thrown: unknown): boolean {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : '';
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || code === 'EISDIR' || code === 'EINVAL';
}
