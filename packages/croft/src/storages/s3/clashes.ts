import { AppError } from '@croft/protocol';
import type { PathChange, TreePath } from '../../core/history/tree.ts';
import { type Conflict, conflictPath } from './conflicts.ts';
import type { Ground } from './ground.ts';
import { fetchIncoming, type Incoming, piecesOf } from './incoming.ts';
import { isMarker } from './keys.ts';
import { readOutgoing } from './outgoing.ts';
import type { Operation } from './plan.ts';
import { note, plain, rebase } from './settle.ts';
import type { Held } from './spool.ts';

const maxNames = 100;

/**
 * Keeps both sides of a file that was changed here and by somebody else: ours is put beside it before theirs takes its
 * place, so that there is no moment in which one of them is nowhere. `undefined`: there is nothing to tell, and the next
 * round finds out what has become of it.
 */
export async function keepBoth(
  ground: Ground,
  operation: Operation,
  signal?: AbortSignal,
): Promise<Conflict | undefined> {
  const theirs = await fetchIncoming(ground, operation.key, signal);
  if (!theirs) return undefined;
  await using _ = theirs.held;
  // Of a directory both say that it is there.
  if (isMarker(operation.key)) return void (await remember(ground, theirs));
  return await (operation.entry ? bothChanged(ground, operation, theirs) : bringBack(ground, operation, theirs));
}

async function bothChanged(
  ground: Ground,
  { path, entry }: Operation,
  theirs: Incoming,
): Promise<Conflict | undefined> {
  const ours = await readOutgoing(ground, path, entry?.kind ?? 'file');
  if (!ours) return undefined;
  await using _ = ours.held;
  if (ours.entry.hash === theirs.known.hash && ours.entry.kind === theirs.known.kind)
    return void (await remember(ground, theirs));
  const kept = await putBeside(ground, path, { after: ours.entry }, ours.held);
  const isDone = await tryApply(ground, { path, before: ours.entry, after: plain(theirs.known) }, theirs.held);
  if (isDone) await remember(ground, theirs);
  return { path, kept, reason: 'both changed' };
}

async function bringBack(ground: Ground, { path }: Operation, theirs: Incoming): Promise<Conflict> {
  const change = { after: plain(theirs.known) };
  const isBack = await tryApply(ground, { path, ...change }, theirs.held);
  if (isBack) await remember(ground, theirs);
  // Something else stands there now. With theirs beside it, the object can go.
  const kept = isBack ? path : await putBeside(ground, path, change, theirs.held);
  if (!isBack) ground.manifest.put(theirs.key, theirs.known);
  return { path, kept, reason: 'removed here, changed there' };
}

async function remember(ground: Ground, { key, known }: Incoming): Promise<void> {
  const base = await rebase(ground, [{ key, known }]);
  ground.manifest.change(() => {
    note(ground, { key, known });
    ground.manifest.setState({ base });
  });
}

export async function putBeside(
  ground: Ground,
  path: TreePath,
  change: Required<Pick<PathChange, 'after'>>,
  held: Held,
): Promise<TreePath> {
  for (let attempt = 0; attempt < maxNames; attempt++) {
    const kept = conflictPath(path, held, attempt);
    if (await tryApply(ground, { path: kept, ...change }, held)) return kept;
    const there = await readOutgoing(ground, kept, change.after?.kind ?? 'file');
    await using _ = there?.held;
    if (there?.entry.hash === held.hash) return kept;
  }
  throw new AppError('E_CONFLICT', `${path} was changed on both sides, and there is no room beside it to keep yours`, {
    details: { conflicts: [{ path, kept: path }] },
  });
}

/** Whether the path was as it should be, and is changed. */
async function tryApply(ground: Ground, change: PathChange, held: Held): Promise<boolean> {
  try {
    const { refused } = await ground.tree.apply([change], { read: () => piecesOf(held) });
    return refused.length === 0;
  } catch (thrown) {
    if (AppError.is(thrown) && thrown.code === 'E_CONFLICT') return false;
    throw thrown;
  }
}
