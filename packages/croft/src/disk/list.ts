import { lstatSync, readlinkSync } from 'node:fs';
import { AppError } from '@croft/protocol';
import type { DirectoryEntry, DirectoryListing } from '../core/files.ts';
import { missing } from '../core/path-errors.ts';
import { temporaryPrefix } from '../core/temporary.ts';
import { find } from './find.ts';
import { at, kindOf, namesIn } from './handles.ts';
import type { Root } from './walk.ts';

export async function listDirectory(root: Root, path: string, limit: number): Promise<DirectoryListing> {
  using spot = find(root, path);
  if (!spot.found) throw missing(path);
  const { handle, stats } = spot.found;
  if (!stats.isDirectory()) {
    throw new AppError('E_NOT_A_DIRECTORY', `path is not a directory: ${path}`, { details: { path } });
  }

  const names: Buffer[] = [];
  for await (const name of namesIn(handle)) {
    if (name.toString('latin1').startsWith(temporaryPrefix)) continue;
    names.push(name);
    if (names.length > limit) break;
  }
  const shown = names.slice(0, limit).sort(Buffer.compare);
  return { path: spot.path, entries: shown.flatMap((name) => toEntry(handle, name)), cut: names.length > limit };
}

/** Empty for a name that went away meanwhile. */
function toEntry(directory: number, name: Buffer): DirectoryEntry[] {
  const path = at(directory, name);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return [];
  const entry = { name: name.toString('utf8'), kind: kindOf(stats), size: stats.size, mode: stats.mode & 0o7777 };
  return [entry.kind === 'link' ? { ...entry, target: readTarget(path) } : entry];
}

function readTarget(path: string | Buffer): string {
  try {
    return readlinkSync(path);
  } catch {
    // Swapped for something else since the stat; the listing is a moment's picture either way.
    return '';
  }
}
