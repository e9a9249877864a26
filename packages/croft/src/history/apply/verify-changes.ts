import { type BigIntStats, closeSync, lstatSync, readdirSync } from 'node:fs';
import type { TreeEntry, TreePath } from '../../core/history/ports/tree.ts';
import type { RawName } from '../../core/history/trees/raw-names.ts';
import { errnoOf } from '../../disk/paths/file-errors.ts';
import { type DirectoryFds, nameOf, parentOf } from '../files/directory-fds.ts';
import { hashLargeFile } from '../files/hash-large-file.ts';
import { entryPathOf, identityOf, openLeaf, readLeaf } from '../files/read-leaf.ts';
import { isSameEntry } from '../tree/diff-trees.ts';
import type { TreeIndex } from '../tree/tree-index.ts';
import { isSameIdentity } from '../tree/tree-nodes.ts';
import {
  type ApplyPlan,
  changedBySomebodyElse,
  forPath,
  type PlannedChange,
  type VerifiedEntry,
} from './plan-changes.ts';

interface VerifyDependencies {
  readonly index: TreeIndex;
  readonly handles: DirectoryFds;
  readonly signal?: AbortSignal | undefined;
}

/** Throws `E_CONFLICT` with every path that is not as its change says in `before`. */
export async function verifyChanges(plan: ApplyPlan, dependencies: VerifyDependencies): Promise<void> {
  const differing: TreePath[] = [];
  for (const change of plan.values()) {
    dependencies.signal?.throwIfAborted();
    if (!(await forPath(change.path, () => isAsBefore(change, plan, dependencies)))) differing.push(change.path);
  }
  if (differing.length > 0) throw changedBySomebodyElse(differing);
}

async function isAsBefore(change: PlannedChange, plan: ApplyPlan, dependencies: VerifyDependencies): Promise<boolean> {
  const stats = statAt(dependencies.handles, change.raw);
  if (stats === 'blocked') return change.before === undefined && isUnblocked(change.raw, plan, dependencies.handles);
  if (!stats) return change.before === undefined;
  const entry = change.before && (await entryOnDisk(change, stats, dependencies));
  if (!entry || !change.before || !isAsSaid(entry, change.before)) return false;
  change.found = toVerified(entry, stats);
  if (entry.kind !== 'directory' || !change.after || change.after.kind === 'directory') return true;
  return holdsOnly(change.raw, plan, dependencies.handles);
}

/** Entries of a directory are covered by changes of their own. */
function isAsSaid(entry: TreeEntry, before: TreeEntry): boolean {
  if (entry.kind === 'directory') return before.kind === 'directory' && entry.mode === before.mode;
  return isSameEntry(entry, before);
}

/** Returns `blocked` if something on the way is no directory, for example a link. */
function statAt(handles: DirectoryFds, path: RawName): BigIntStats | 'blocked' | undefined {
  try {
    const entryPath = entryPathOf(handles.fdOf(parentOf(path)), nameOf(path));
    return lstatSync(entryPath, { bigint: true, throwIfNoEntry: false });
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return undefined;
    if (errnoOf(thrown) === 'ENOTDIR') return 'blocked';
    throw thrown;
  }
}

/** Whether the plan itself removes what blocks the path. */
function isUnblocked(path: RawName, plan: ApplyPlan, handles: DirectoryFds): boolean {
  for (let above = parentOf(path); above !== ''; above = parentOf(above)) {
    const stats = statAt(handles, above);
    if (stats === 'blocked' || stats === undefined) continue;
    if (stats.isDirectory()) return false;
    const change = plan.get(above);
    return change?.before !== undefined && (change.after === undefined || change.after.kind === 'directory');
  }
  return false;
}

async function entryOnDisk(
  { raw }: PlannedChange,
  stats: BigIntStats,
  { index, handles, signal }: VerifyDependencies,
): Promise<TreeEntry | undefined> {
  const mode = Number(stats.mode) & 0o777;
  if (stats.isDirectory()) return { kind: 'directory', mode, size: 0, hash: '' };
  if (!stats.isFile() && !stats.isSymbolicLink()) return undefined;
  const known = knownEntry(index, raw, stats);
  if (known) return known;
  const directoryFd = handles.fdOf(parentOf(raw));
  const found = readLeaf(directoryFd, nameOf(raw), stats.isFile() ? 'file' : 'link');
  if (found === 'large') return hashOnDisk(openLeaf(directoryFd, nameOf(raw)), signal);
  return typeof found === 'string' ? undefined : found.entry;
}

/** Returns the entry from the index, if the file has not changed since it was read. */
function knownEntry(index: TreeIndex, raw: RawName, stats: BigIntStats): TreeEntry | undefined {
  const node = index.find(raw);
  if (!node || node.kind === 'directory' || !node.isFresh || index.racy.has(node)) return undefined;
  return isSameIdentity(node.identity, identityOf(stats)) ? node.entry : undefined;
}

async function hashOnDisk(fd: number, signal: AbortSignal | undefined): Promise<TreeEntry | undefined> {
  try {
    const hashed = await hashLargeFile(fd, signal);
    return typeof hashed === 'string' ? undefined : hashed.entry;
  } finally {
    closeSync(fd);
  }
}

function toVerified(entry: TreeEntry, stats: BigIntStats): VerifiedEntry {
  return { entry, identity: identityOf(stats), owner: { uid: Number(stats.uid), gid: Number(stats.gid) } };
}

/** Whether a directory that something else replaces contains nothing that would be lost. */
function holdsOnly(path: RawName, plan: ApplyPlan, handles: DirectoryFds): boolean {
  const names = readdirSync(`/proc/self/fd/${handles.fdOf(path)}`, { encoding: 'latin1' });
  return names.every((name) => {
    const below = `${path}/${name}`;
    const stats = statAt(handles, below);
    if (stats === undefined) return true;
    const change = plan.get(below);
    if (stats === 'blocked' || !stats.isDirectory()) return change !== undefined && change.after === undefined;
    const isRemovedByPlan = change !== undefined && change.after === undefined;
    return isRemovedByPlan || isEmptied(below, plan, handles);
  });
}

function isEmptied(path: RawName, plan: ApplyPlan, handles: DirectoryFds): boolean {
  const names = readdirSync(`/proc/self/fd/${handles.fdOf(path)}`, { encoding: 'latin1' });
  return names.length > 0 && holdsOnly(path, plan, handles);
}

/** Whether the path is still as `verifyChanges` found it. */
export function isUntouched({ raw, found }: PlannedChange, handles: DirectoryFds): boolean {
  const stats = statAt(handles, raw);
  if (!stats || stats === 'blocked') return found === undefined;
  if (!found) return false;
  if (stats.isDirectory()) return found.entry.kind === 'directory' && stats.ino === found.identity.inode;
  return isSameIdentity(found.identity, identityOf(stats));
}
