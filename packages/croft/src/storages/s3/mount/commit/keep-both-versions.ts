import { AppError } from '@croft/protocol';
import type { PathChange, TreePath } from '../../../../core/history/ports/tree.ts';
import { isMarker } from '../../layout/object-keys.ts';
import type { BufferedContent } from '../working-copy/buffered-content.ts';
import { type FetchedObject, fetchObject, toPieces } from '../working-copy/fetch-object.ts';
import type { MountContext } from '../working-copy/mount-context.ts';
import { recordObject, toTreeEntry, updateBaseTree } from '../working-copy/publish-commit.ts';
import { readLocalEntry } from '../working-copy/read-local-entry.ts';
import { type Conflict, conflictPath } from './conflicts.ts';
import type { ObjectOperation } from './plan-commit.ts';

const maxNames = 100;

/**
 * Keeps both versions of a file that was changed here and by somebody else. Our version is written beside the file
 * before theirs replaces it, so both exist at every moment. Returns `undefined` if there is nothing to report; the next
 * commit round finds out what happened to the file.
 */
export async function keepBothVersions(
  context: MountContext,
  operation: ObjectOperation,
  signal?: AbortSignal,
): Promise<Conflict | undefined> {
  const theirs = await fetchObject(context, operation.key, signal);
  if (!theirs) return undefined;
  await using _ = theirs.content;
  // A directory marker has no content: both sides agree that the directory exists.
  if (isMarker(operation.key)) return void (await recordTheirs(context, theirs));
  return await (operation.entry
    ? keepOursBeside(context, operation, theirs)
    : restoreTheirs(context, operation, theirs));
}

async function keepOursBeside(
  context: MountContext,
  { path, entry }: ObjectOperation,
  theirs: FetchedObject,
): Promise<Conflict | undefined> {
  const ours = await readLocalEntry(context, path, entry?.kind ?? 'file');
  if (!ours) return undefined;
  await using _ = ours.content;
  if (ours.entry.hash === theirs.known.hash && ours.entry.kind === theirs.known.kind)
    return void (await recordTheirs(context, theirs));
  const kept = await putBeside(context, path, { after: ours.entry }, ours.content);
  const isDone = await tryApply(
    context,
    { path, before: ours.entry, after: toTreeEntry(theirs.known) },
    theirs.content,
  );
  if (isDone) await recordTheirs(context, theirs);
  return { path, kept, reason: 'both changed' };
}

async function restoreTheirs(
  context: MountContext,
  { path }: ObjectOperation,
  theirs: FetchedObject,
): Promise<Conflict> {
  const change = { after: toTreeEntry(theirs.known) };
  const isBack = await tryApply(context, { path, ...change }, theirs.content);
  if (isBack) await recordTheirs(context, theirs);
  // Something else has this path now. Once their version is stored beside it, the object may be removed.
  const kept = isBack ? path : await putBeside(context, path, change, theirs.content);
  if (!isBack) context.manifest.put(theirs.key, theirs.known);
  return { path, kept, reason: 'removed here, changed there' };
}

async function recordTheirs(context: MountContext, { key, known }: FetchedObject): Promise<void> {
  const base = await updateBaseTree(context, [{ key, known }]);
  context.manifest.change(() => {
    recordObject(context, { key, known });
    context.manifest.setState({ base });
  });
}

export async function putBeside(
  context: MountContext,
  path: TreePath,
  change: Required<Pick<PathChange, 'after'>>,
  content: BufferedContent,
): Promise<TreePath> {
  for (let attempt = 0; attempt < maxNames; attempt++) {
    const besidePath = conflictPath(path, content, attempt);
    if (await tryApply(context, { path: besidePath, ...change }, content)) return besidePath;
    const existing = await readLocalEntry(context, besidePath, change.after?.kind ?? 'file');
    await using _ = existing?.content;
    if (existing?.entry.hash === content.hash) return besidePath;
  }
  throw new AppError(
    'E_CONFLICT',
    `${path} was changed on both sides, and no free name beside it was found for yours`,
    {
      details: { conflicts: [{ path, kept: path }] },
    },
  );
}

/** Applies the change. Returns false if the path did not have the expected `before` state. */
async function tryApply(context: MountContext, change: PathChange, content: BufferedContent): Promise<boolean> {
  try {
    await context.tree.apply([change], { isFromStorage: true, read: () => toPieces(content) });
    return true;
  } catch (thrown) {
    if (AppError.is(thrown) && thrown.code === 'E_CONFLICT') return false;
    throw thrown;
  }
}
