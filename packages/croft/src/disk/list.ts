import { lstatSync, opendirSync, readlinkSync } from 'node:fs';
import { AppError } from '@croft/protocol';
import type { DirectoryEntry, DirectoryListing } from '../core/files.ts';
import { temporaryPrefix } from '../core/temporary.ts';
import { at, kindOf } from './handles.ts';
import { missing, type Root, walk } from './walk.ts';

export async function listDirectory(root: Root, path: string, limit: number): Promise<DirectoryListing> {
  using spot = walk(root, path, { follow: true });
  if (!spot.found) throw missing(path);
  const { handle, stats } = spot.found;
  if (!stats.isDirectory()) {
    throw new AppError('E_NOT_A_DIRECTORY', `path is not a directory: ${path}`, { details: { path } });
  }

  const names: string[] = [];
  const directory = opendirSync(`/proc/self/fd/${handle}`);
  for await (const { name } of directory) {
    if (name.startsWith(temporaryPrefix)) continue;
    names.push(name);
    if (names.length > limit) break;
  }
  const shown = names.slice(0, limit).sort(byCodePoint);
  return { path: spot.path, entries: shown.flatMap((name) => toEntry(handle, name)), cut: names.length > limit };
}

export function byCodePoint(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Empty for a name that went away meanwhile. */
function toEntry(directory: number, name: string): DirectoryEntry[] {
  const stats = lstatSync(at(directory, name), { throwIfNoEntry: false });
  if (!stats) return [];
  const entry = { name, kind: kindOf(stats), size: stats.size };
  return [entry.kind === 'link' ? { ...entry, target: readTarget(directory, name) } : entry];
}

function readTarget(directory: number, name: string): string {
  try {
    return readlinkSync(at(directory, name));
  } catch {
    // Swapped for something else since the stat; the listing is a moment's picture either way.
    return '';
  }
}
