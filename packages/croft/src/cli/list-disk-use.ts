import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { countNotes, type NoteCounts, workspaceOf } from '../app/workspaces/count-history-notes.ts';
import { measureTree } from '../lib/disk-space/measure-tree.ts';

/** One entry of a data directory. */
export interface DiskUse {
  readonly kind: 'history' | 'cache' | 'code' | 'workspace' | 'fork' | 'mount' | 'records' | 'other';
  readonly path: string;
  readonly bytes: number;
  /** The directory that the entry belongs to, if known. */
  readonly of?: string;
  /** Whether that directory no longer exists, so that nobody needs the entry. */
  readonly isOrphan?: boolean;
  readonly notes?: NoteCounts;
}

/** Directories whose entries are listed one by one. */
const kinds: Readonly<Record<string, DiskUse['kind']>> = {
  history: 'history',
  caches: 'cache',
  code: 'code',
  workspaces: 'workspace',
  forks: 'fork',
  mounts: 'mount',
};

/** Lists the entries of a data directory, the largest first. */
export async function listDiskUse(data: string): Promise<DiskUse[]> {
  const found: DiskUse[] = [];
  for (const name of list(data)) {
    const kind = kinds[name];
    if (kind === undefined)
      found.push(await measure(name.startsWith('croft.db') ? 'records' : 'other', join(data, name)));
    else for (const entry of list(join(data, name))) found.push(await describe(kind, data, join(data, name, entry)));
  }
  return found.sort((one, other) => other.bytes - one.bytes);
}

async function measure(kind: DiskUse['kind'], path: string): Promise<DiskUse> {
  return { kind, path, bytes: await measureTree(path) };
}

async function describe(kind: DiskUse['kind'], data: string, path: string): Promise<DiskUse> {
  const measured = await measure(kind, path);
  if (kind !== 'history' && kind !== 'cache' && kind !== 'code') return measured;
  // A cache and a code index have the same name as the history of their workspace.
  const of = workspaceOf(join(data, 'history', path.slice(path.lastIndexOf('/') + 1)));
  const notes = kind === 'history' ? countNotes(path) : undefined;
  return { ...measured, ...(of !== undefined && { of, isOrphan: !existsSync(of) }), ...(notes && { notes }) };
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}
