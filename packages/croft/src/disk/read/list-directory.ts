import { lstatSync, readlinkSync } from 'node:fs';
import { AppError } from '@croft/protocol';
import type { DirectoryEntry, DirectoryListing } from '../../core/files/files.ts';
import { fileNotFound } from '../../core/files/path-errors.ts';
import { temporaryPrefix } from '../../core/files/temporary-prefix.ts';
import { at, kindOf, namesIn } from '../paths/handles.ts';
import { resolvePath } from '../paths/resolve-path.ts';
import type { WorkspaceRoot } from '../paths/walk.ts';

export async function listDirectory(root: WorkspaceRoot, path: string, limit: number): Promise<DirectoryListing> {
  using resolved = resolvePath(root, path);
  if (!resolved.found) throw fileNotFound(path);
  const { handle, stats } = resolved.found;
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
  return { path: resolved.path, entries: shown.flatMap((name) => toEntry(handle, name)), cut: names.length > limit };
}

/** Empty if the name was removed meanwhile. */
function toEntry(directoryFd: number, name: Buffer): DirectoryEntry[] {
  const path = at(directoryFd, name);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return [];
  const entry = { name: name.toString('utf8'), kind: kindOf(stats), size: stats.size, mode: stats.mode & 0o7777 };
  return [entry.kind === 'link' ? { ...entry, target: readTarget(path) } : entry];
}

function readTarget(path: string | Buffer): string {
  try {
    return readlinkSync(path);
  } catch {
    // Replaced by something else since the stat. A listing shows one moment in any case.
    return '';
  }
}
