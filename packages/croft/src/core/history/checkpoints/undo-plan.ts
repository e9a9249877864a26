import { AppError } from '@croft/protocol';
import { checkpointNotFound, findUndone, type LoggedCheckpoint } from '../logs/checkpoint-log.ts';
import type { PathChange, TreeEntry, TreeHash, TreePath } from '../ports/tree.ts';
import type { WorkingTree } from '../ports/working-tree.ts';
import { isSameAtPath } from '../trees/carry-out-plan.ts';

export type UndoTarget = { readonly count: number } | { readonly id: string };

/** The undo of one path: the entry that must be there, the entry that is there, and the entry to restore. */
interface Inverse {
  readonly expected: TreeEntry | undefined;
  readonly found: TreeEntry | undefined;
  readonly wanted: TreeEntry | undefined;
}

const undoTool = 'undo';
const maxNamed = 50;

/** Picks the checkpoints to undo, newest first. `all` is in that order too. */
export function pickUndone(target: UndoTarget, all: readonly LoggedCheckpoint[]): LoggedCheckpoint[] {
  const isUndone = findUndone(all);
  if ('id' in target) return pickOne(target.id, all, isUndone);
  // A repeated undo goes further back. An undo, or what a check left behind, is undone only by its id.
  const open = all.filter((one) => !isUndone(one) && one.note.call.tool !== undoTool && !isByproduct(one));
  const calls = [...new Set(open.map(({ note }) => note.callId))].slice(0, target.count);
  if (calls.length === target.count) return open.filter(({ note }) => calls.includes(note.callId));
  const found = calls.length === 0 ? 'no call' : `only ${calls.length} call${calls.length === 1 ? '' : 's'}`;
  throw new AppError('E_NOT_FOUND', `nothing was undone: ${found} can still be undone`, {
    hint: 'Ask for fewer calls; undo_list shows what can be undone.',
  });
}

function isByproduct({ note }: LoggedCheckpoint): boolean {
  return note.call.byproducts === 'all';
}

function pickOne(
  id: string,
  all: readonly LoggedCheckpoint[],
  isUndone: (one: LoggedCheckpoint) => boolean,
): LoggedCheckpoint[] {
  const found = all.find(({ name }) => name === id);
  if (!found) throw checkpointNotFound(id, all);
  if (isUndone(found)) throw undoneAlready(id, found.note.undoneBy);
  return [found];
}

function undoneAlready(id: string, undoneBy: string | undefined): AppError {
  return new AppError('E_NOT_FOUND', `nothing was undone: ${id} was undone before, by ${undoneBy}`, {
    hint: `To bring the changes of ${id} back, undo ${undoneBy}.`,
  });
}

/** Plans the undo against the tree as it is now. Throws `E_CONFLICT` for paths that have changed since. */
export async function planUndo(
  tree: WorkingTree,
  now: TreeHash,
  { picked, all }: { readonly picked: readonly LoggedCheckpoint[]; readonly all: readonly LoggedCheckpoint[] },
): Promise<PathChange[]> {
  const { inverses, broken } = await invert(tree, now, picked);
  const changes: PathChange[] = [];
  for (const [path, { expected, found, wanted }] of inverses) {
    if (isSameAtPath(found, wanted)) continue;
    if (isSameAtPath(found, expected)) changes.push({ path, before: found, after: wanted });
    else broken.add(path);
  }
  if (broken.size > 0) throw await toConflict(tree, [...broken], { picked, all });
  return changes;
}

/** Combines several checkpoints into one change per path, from what the newest left to what the oldest found. */
async function invert(tree: WorkingTree, now: TreeHash, picked: readonly LoggedCheckpoint[]) {
  const inverses = new Map<TreePath, Inverse>();
  const broken = new Set<TreePath>();
  for (const { note } of picked) {
    const find = await createFind(tree, now, note);
    for (const { path, before, after } of await tree.diff(note.before, note.after)) {
      const later = inverses.get(path);
      if (later && !isSameAtPath(later.wanted, after)) broken.add(path);
      const first = { expected: after, found: await find(path, after) };
      inverses.set(path, { ...(later ?? first), wanted: before });
    }
  }
  return { inverses, broken };
}

/** Returns a lookup of what is at a path now. For a checkpoint of a whole tree, one diff serves all paths. */
async function createFind(tree: WorkingTree, now: TreeHash, note: LoggedCheckpoint['note']) {
  if (note.isOfPaths) return (path: TreePath) => tree.entry(now, path);
  const since = new Map((await tree.diff(note.after, now)).map((change) => [change.path, change]));
  return async (path: TreePath, after: TreeEntry | undefined) => (since.has(path) ? since.get(path)?.after : after);
}

/** Names for each path the later calls that touched it. */
async function toConflict(
  tree: WorkingTree,
  paths: readonly TreePath[],
  { picked, all }: { readonly picked: readonly LoggedCheckpoint[]; readonly all: readonly LoggedCheckpoint[] },
): Promise<AppError> {
  const isUndone = findUndone(all);
  const oldest = picked.at(-1);
  const later = all
    .slice(0, oldest ? all.indexOf(oldest) : 0)
    .filter((one) => !picked.includes(one) && !isUndone(one) && one.note.call.tool !== undoTool);
  const touchedBy = new Map<TreePath, LoggedCheckpoint[]>(paths.map((path) => [path, []]));
  for (const one of later)
    for (const { path } of await tree.diff(one.note.before, one.note.after)) touchedBy.get(path)?.push(one);
  const conflicts = [...touchedBy].map(([path, by]) => ({ path, by: by.map(nameCheckpoint) }));
  const lines = conflicts
    .slice(0, maxNamed)
    .map(({ path, by }) => `${path}: ${by.join('; ') || 'outside of any call'}`);
  const more = conflicts.length > lines.length ? [`and ${conflicts.length - lines.length} more`] : [];
  const message = ['nothing was undone: these paths were changed again since', ...lines, ...more].join('\n');
  return new AppError('E_CONFLICT', message, { details: { paths, conflicts } });
}

function nameCheckpoint({ name, note: { call } }: LoggedCheckpoint): string {
  return `${name} ${call.tool} ${call.title}`.trimEnd();
}
