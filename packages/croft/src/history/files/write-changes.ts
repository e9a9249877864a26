import { chmodSync, closeSync, createWriteStream, lchownSync, mkdirSync, type Stats, symlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { HistoryStore } from '../../core/history/ports/history-store.ts';
import type { PathChange, TreeEntry } from '../../core/history/ports/tree.ts';
import { at, openDirectory, openRoot, statOf } from '../../disk/paths/handles.ts';
import { bytesFromPath } from '../../lib/files/path-bytes.ts';
import { statEntry } from './directory-entries.ts';

/** Writes changes into a directory that nobody else can reach yet. Never follows a link of the tree. */
export async function writeChanges(
  target: string,
  changes: readonly PathChange[],
  store: Pick<HistoryStore, 'open' | 'read'>,
): Promise<void> {
  const rootFd = openRoot(target);
  try {
    const owner = statOf(rootFd);
    const all = changes.map(({ path, after }) => ({ names: path.split('/').map(bytesFromPath), after }));
    for (const { names } of all) await remove(rootFd, names);
    for (const { names, after } of all) if (after) await put(rootFd, names, { entry: after, owner, store });
  } finally {
    closeSync(rootFd);
  }
}

/** Removes what is at the path, but not the directories above it: later writes may need them. */
async function remove(directoryFd: number, [name, ...rest]: readonly Buffer[]): Promise<void> {
  if (name === undefined) return;
  const stats = statEntry(directoryFd, name);
  if (!stats) return;
  if (rest.length > 0 && !stats.isDirectory()) return;
  if (rest.length === 0) return rm(at(directoryFd, name), { recursive: true, force: true });
  const inner = openDirectory(directoryFd, name);
  await remove(inner, rest).finally(() => closeSync(inner));
}

interface Putting {
  readonly entry: TreeEntry;
  readonly owner: Stats;
  readonly store: Pick<HistoryStore, 'open' | 'read'>;
}

async function put(directoryFd: number, [name, ...rest]: readonly Buffer[], what: Putting): Promise<void> {
  if (name === undefined) return;
  const path = at(directoryFd, name);
  if (rest.length === 0) return putHere(path, what);
  const stats = statEntry(directoryFd, name);
  if (!stats?.isDirectory()) {
    if (stats) await rm(path, { force: true });
    makeDirectory(path, 0o755, what.owner);
  }
  const inner = openDirectory(directoryFd, name);
  await put(inner, rest, what).finally(() => closeSync(inner));
}

async function putHere(path: string | Buffer, { entry, owner, store }: Putting): Promise<void> {
  if (entry.kind === 'directory') return makeDirectory(path, entry.mode, owner);
  if (entry.kind === 'link') symlinkSync(await store.read(entry.hash), path);
  else await pipeline(Readable.from(store.open(entry.hash)), createWriteStream(path, { flags: 'wx', mode: 0o600 }));
  give(path, owner);
  if (entry.kind === 'file') chmodSync(path, entry.mode);
}

function makeDirectory(path: string | Buffer, mode: number, owner: Stats): void {
  mkdirSync(path, { mode: 0o700 });
  give(path, owner);
  chmodSync(path, mode);
}

function give(path: string | Buffer, { uid, gid }: Stats): void {
  if (process.getuid?.() === 0) lchownSync(path, uid, gid);
}
