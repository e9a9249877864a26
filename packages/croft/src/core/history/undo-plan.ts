import { AppError } from '@croft/protocol';
import { checkpointNotFound, findUndone, type LoggedCheckpoint } from './checkpoint-log.ts';
import type { PathChange, Root, TreeEntry, TreePath } from './tree.ts';
import { isSame } from './tree-change.ts';
import type { WorkingTree } from './working-tree.ts';

export type UndoTarget = { readonly count: number } | { readonly id: string };

/** What must be at a path for it to be taken back, what is there, and what comes there. */
interface Inverse {
  readonly expected: TreeEntry | undefined;
  readonly found: TreeEntry | undefined;
  readonly wanted: TreeEntry | undefined;
}

const undoTool = 'undo';
const maxNamed = 50;

/** Which of them are to be taken back, newest first; `all` is in that order too. */
export function pickUndone(target: UndoTarget, all: readonly LoggedCheckpoint[]): LoggedCheckpoint[] {
  const isUndone = findUndone(all);
  if ('id' in target) return pickOne(target.id, all, isUndone);
  // Asked again it goes further back; what an undo did is taken back by naming it.
  const open = all.filter((one) => !isUndone(one) && one.note.call.tool !== undoTool);
  const calls = [...new Set(open.map(({ note }) => note.callId))].slice(0, target.count);
  if (calls.length === target.count) return open.filter(({ note }) => calls.includes(note.callId));
  const there =
    calls.length === 0 ? 'no call has' : `only ${calls.length} call${calls.length === 1 ? ' has' : 's have'}`;
  throw new AppError(
    'E_NOT_FOUND',
    `${there} changed something that is still known and not undone; nothing was undone`,
  );
}

function pickOne(
  id: string,
  all: readonly LoggedCheckpoint[],
  isUndone: (one: LoggedCheckpoint) => boolean,
): LoggedCheckpoint[] {
  const found = all.find(({ name }) => name === id);
  if (!found) throw checkpointNotFound(id, all);
  if (isUndone(found)) throw new AppError('E_NOT_FOUND', `${id} is undone already, by ${found.note.undoneBy}`);
  return [found];
}

/** What takes these back, seen from the tree as it is. Throws `E_CONFLICT` for paths that have become something else. */
export async function planUndo(
  tree: WorkingTree,
  now: Root,
  { picked, all }: { readonly picked: readonly LoggedCheckpoint[]; readonly all: readonly LoggedCheckpoint[] },
): Promise<PathChange[]> {
  const { inverses, broken } = await invert(tree, now, picked);
  const changes: PathChange[] = [];
  for (const [path, { expected, found, wanted }] of inverses) {
    if (isSame(found, wanted)) continue;
    if (isSame(found, expected)) changes.push({ path, before: found, after: wanted });
    else broken.add(path);
  }
  if (broken.size > 0) throw await toConflict(tree, [...broken], { picked, all });
  return changes;
}

/** Several of them are one change of each path, from what the newest left to what the oldest found. */
async function invert(tree: WorkingTree, now: Root, picked: readonly LoggedCheckpoint[]) {
  const inverses = new Map<TreePath, Inverse>();
  const broken = new Set<TreePath>();
  for (const { note } of picked) {
    const since = new Map((await tree.diff(note.after, now)).map((change) => [change.path, change]));
    for (const { path, before, after } of await tree.diff(note.before, note.after)) {
      const later = inverses.get(path);
      if (later && !isSame(later.wanted, after)) broken.add(path);
      const changed = since.get(path);
      const first = { expected: after, found: changed ? changed.after : after };
      inverses.set(path, { ...(later ?? first), wanted: before });
    }
  }
  return { inverses, broken };
}

/** Says of each path who else touched it since. */
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
