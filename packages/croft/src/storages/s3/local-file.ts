import { closeSync, constants, openSync } from 'node:fs';
import type { TreePath } from '../../core/history/tree.ts';
import { at, openDirectory } from '../../disk/handles.ts';
import { bytesFromPath } from '../../lib/path-bytes.ts';

const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** A name in an open directory, as the kernel takes it. */
export type Spot = string | Buffer;

/** Walks to the directory of a path, one name at a time and through no link. Throws as the kernel does. */
export async function withSpot<T>(root: number, path: TreePath, work: (spot: Spot) => T | Promise<T>): Promise<T> {
  const names = path.split('/').map((name) => bytesFromPath(name));
  const last = names.pop() ?? Buffer.alloc(0);
  const held: number[] = [];
  try {
    for (const name of names) held.push(openDirectory(held.at(-1) ?? root, name));
    return await work(at(held.at(-1) ?? root, last));
  } finally {
    for (const handle of held) closeSync(handle);
  }
}

/** For reading. A link fails with `ELOOP`; the other side of a pipe is never waited for. */
export function openForReading(spot: Spot): number {
  return openSync(spot, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
}

export function isGone(thrown: unknown): boolean {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : '';
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || code === 'EISDIR' || code === 'EINVAL';
}
