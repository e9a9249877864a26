import type { IndexDatabase } from './index-database.ts';
import type { DueFile } from './read-due-files.ts';
import { removeFile } from './store-read-files.ts';

/** A file of the workspace and when it was changed; 0 if that is not known. */
export type FileTime = readonly [path: string, time: number];

interface KnownFile {
  readonly id: number;
  readonly time: number;
  readonly due: boolean;
}

/** The files of a listing in progress that the index knows and that were not listed yet, by the name of the index. */
const listings = new Map<string, Map<string, KnownFile>>();
const pathsPerRemoval = 200;
/** The two ways to learn a time round it differently: 10 microseconds. */
const timeTolerance = 100;

/** Takes in a part of a listing. The first part begins it, and the last removes the files that were not in it. */
export function takeListing(
  index: IndexDatabase,
  name: string,
  { files, isFirst, isLast }: { files: readonly FileTime[]; isFirst: boolean; isLast: boolean },
): void {
  const known = (isFirst ? undefined : listings.get(name)) ?? readKnown(index);
  listings.set(name, known);
  index.write(() => {
    const change = nextChange(index);
    for (const [path, time] of files) noteFile(index, { path, time, change }, known.get(path));
    for (const [path] of files) known.delete(path);
  });
  if (!isLast) return;
  listings.delete(name);
  removeAll(index, [...known.values()]);
  index.write(() => index.prepare("INSERT OR REPLACE INTO state VALUES ('listed', 1)").run());
}

function readKnown(index: IndexDatabase): Map<string, KnownFile> {
  const rows = index.prepare('SELECT id, path, time, due FROM files').all();
  return new Map(
    rows.map(({ id, path, time, due }) => [String(path), { id: Number(id), time: Number(time), due: Number(due) > 0 }]),
  );
}

function noteFile(
  index: IndexDatabase,
  { path, time, change }: { readonly path: string; readonly time: number; readonly change: number },
  known: KnownFile | undefined,
): void {
  if (!known) insertFile(index, path, change);
  else if (!known.due && Math.abs(known.time - time) > timeTolerance)
    index.prepare('UPDATE files SET due = ? WHERE id = ?').run(change, known.id);
}

function insertFile(index: IndexDatabase, path: string, change: number): void {
  index.prepare('INSERT OR IGNORE INTO files (path, time, due) VALUES (?, 0, ?)').run(path, change);
}

/** A number that no change had before. */
function nextChange(index: IndexDatabase): number {
  const last = Number(index.prepare("SELECT value FROM state WHERE name = 'change'").get()?.value ?? 0);
  index.prepare("INSERT OR REPLACE INTO state VALUES ('change', ?)").run(last + 1);
  return last + 1;
}

function removeAll(index: IndexDatabase, files: readonly KnownFile[]): void {
  for (let at = 0; at < files.length; at += pathsPerRemoval)
    index.write(() => {
      for (const { id } of files.slice(at, at + pathsPerRemoval)) removeFile(index, id);
    });
}

/**
 * Notes paths that changed. Returns those that the index does not know: new files, or files that it must not have.
 * A path may be a directory, and then everything below it has changed.
 */
export function noteChanges(index: IndexDatabase, paths: readonly string[]): string[] {
  const unknown: string[] = [];
  index.write(() => {
    const change = nextChange(index);
    for (const path of paths) {
      const { changes } = index.prepare('UPDATE files SET due = ? WHERE path = ?').run(change, path);
      if (Number(changes) > 0) continue;
      index.prepare('UPDATE files SET due = ? WHERE path > ? AND path < ?').run(change, `${path}/`, `${path}0`);
      unknown.push(path);
    }
  });
  return unknown;
}

export function addFiles(index: IndexDatabase, paths: readonly string[]): void {
  index.write(() => {
    const change = nextChange(index);
    for (const path of paths) insertFile(index, path, change);
  });
}

/** Files that have to be read. */
export function listDue(index: IndexDatabase, limit: number): DueFile[] {
  return index
    .prepare('SELECT path, due FROM files WHERE due > 0 ORDER BY id LIMIT ?')
    .all(limit)
    .map(({ path, due }) => [String(path), Number(due)]);
}

/** Whether all files of the workspace were listed once, by this process or an earlier one. */
export function isListed(index: IndexDatabase): boolean {
  return index.prepare("SELECT value FROM state WHERE name = 'listed'").get() !== undefined;
}
