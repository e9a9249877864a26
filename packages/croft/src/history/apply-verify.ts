import { type BigIntStats, closeSync, lstatSync, readdirSync } from 'node:fs';
import type { RawName } from '../core/history/raw-names.ts';
import type { TreeEntry, TreePath } from '../core/history/tree.ts';
import { errnoOf } from '../disk/errors.ts';
import { conflict, type Found, forPath, type Plan, type PlannedChange } from './apply-plan.ts';
import { isSameEntry } from './diff-trees.ts';
import { nameOf, type PathHandles, parentOf } from './path-handles.ts';
import { hashLarge } from './read-large.ts';
import { identityOf, openLeaf, placeOf, readLeaf } from './read-leaf.ts';
import type { TreeIndex } from './tree-index.ts';
import { isSameIdentity } from './tree-nodes.ts';

export interface VerifyMeans {
  readonly index: TreeIndex;
  readonly handles: PathHandles;
  readonly signal?: AbortSignal | undefined;
}

/** Throws `E_CONFLICT` with every path that is not as its change has it before. */
export async function verify(plan: Plan, means: VerifyMeans): Promise<void> {
  const differing: TreePath[] = [];
  for (const change of plan.values()) {
    means.signal?.throwIfAborted();
    if (!(await forPath(change.path, () => isAsBefore(change, plan, means)))) differing.push(change.path);
  }
  if (differing.length > 0) throw conflict(differing);
}

async function isAsBefore(change: PlannedChange, plan: Plan, means: VerifyMeans): Promise<boolean> {
  const stats = statAt(means.handles, change.raw);
  if (stats === 'blocked') return change.before === undefined && isUnblocked(change.raw, plan, means.handles);
  if (!stats) return change.before === undefined;
  const entry = change.before && (await entryThere(change, stats, means));
  if (!entry || !change.before || !isAsSaid(entry, change.before)) return false;
  change.found = toFound(entry, stats);
  if (entry.kind !== 'directory' || !change.after || change.after.kind === 'directory') return true;
  return holdsOnly(change.raw, plan, means.handles);
}

/** What a directory holds is said by other changes. */
function isAsSaid(entry: TreeEntry, before: TreeEntry): boolean {
  if (entry.kind === 'directory') return before.kind === 'directory' && entry.mode === before.mode;
  return isSameEntry(entry, before);
}

/** `blocked`: something on the way is no directory, a link for example. */
function statAt(handles: PathHandles, path: RawName): BigIntStats | 'blocked' | undefined {
  try {
    const place = placeOf(handles.handleOf(parentOf(path)), nameOf(path));
    return lstatSync(place, { bigint: true, throwIfNoEntry: false });
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return undefined;
    if (errnoOf(thrown) === 'ENOTDIR') return 'blocked';
    throw thrown;
  }
}

/** Whether what is in the way goes with these very changes. */
function isUnblocked(path: RawName, plan: Plan, handles: PathHandles): boolean {
  for (let above = parentOf(path); above !== ''; above = parentOf(above)) {
    const stats = statAt(handles, above);
    if (stats === 'blocked' || stats === undefined) continue;
    if (stats.isDirectory()) return false;
    const change = plan.get(above);
    return change?.before !== undefined && (change.after === undefined || change.after.kind === 'directory');
  }
  return false;
}

async function entryThere(
  { raw }: PlannedChange,
  stats: BigIntStats,
  { index, handles, signal }: VerifyMeans,
): Promise<TreeEntry | undefined> {
  const mode = Number(stats.mode) & 0o777;
  if (stats.isDirectory()) return { kind: 'directory', mode, size: 0, hash: '' };
  if (!stats.isFile() && !stats.isSymbolicLink()) return undefined;
  const known = knownEntry(index, raw, stats);
  if (known) return known;
  const directory = handles.handleOf(parentOf(raw));
  const found = readLeaf(directory, nameOf(raw), stats.isFile() ? 'file' : 'link');
  if (found === 'large') return hashThere(openLeaf(directory, nameOf(raw)), signal);
  return typeof found === 'string' ? undefined : found.entry;
}

/** What was read of it, if nothing has happened to it since. */
function knownEntry(index: TreeIndex, raw: RawName, stats: BigIntStats): TreeEntry | undefined {
  const node = index.find(raw);
  if (!node || node.kind === 'directory' || !node.isFresh || index.racy.has(node)) return undefined;
  return isSameIdentity(node.identity, identityOf(stats)) ? node.entry : undefined;
}

async function hashThere(handle: number, signal: AbortSignal | undefined): Promise<TreeEntry | undefined> {
  try {
    const hashed = await hashLarge(handle, signal);
    return typeof hashed === 'string' ? undefined : hashed.entry;
  } finally {
    closeSync(handle);
  }
}

function toFound(entry: TreeEntry, stats: BigIntStats): Found {
  return { entry, identity: identityOf(stats), owner: { uid: Number(stats.uid), gid: Number(stats.gid) } };
}

/** Whether a directory that gives way to something else holds nothing that would be lost by it. */
function holdsOnly(path: RawName, plan: Plan, handles: PathHandles): boolean {
  const names = readdirSync(`/proc/self/fd/${handles.handleOf(path)}`, { encoding: 'latin1' });
  return names.every((name) => {
    const below = `${path}/${name}`;
    const stats = statAt(handles, below);
    if (stats === undefined) return true;
    const change = plan.get(below);
    if (stats === 'blocked' || !stats.isDirectory()) return change !== undefined && change.after === undefined;
    const isTold = change !== undefined && change.after === undefined;
    return isTold || isEmptied(below, plan, handles);
  });
}

function isEmptied(path: RawName, plan: Plan, handles: PathHandles): boolean {
  const names = readdirSync(`/proc/self/fd/${handles.handleOf(path)}`, { encoding: 'latin1' });
  return names.length > 0 && holdsOnly(path, plan, handles);
}

/** Whether nobody has touched it since it was checked. */
export function isUntouched({ raw, found }: PlannedChange, handles: PathHandles): boolean {
  const stats = statAt(handles, raw);
  if (!stats || stats === 'blocked') return found === undefined;
  if (!found) return false;
  if (stats.isDirectory()) return found.entry.kind === 'directory' && stats.ino === found.identity.inode;
  return isSameIdentity(found.identity, identityOf(stats));
}
