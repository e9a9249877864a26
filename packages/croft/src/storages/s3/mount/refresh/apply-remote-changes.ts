import { AppError } from '@croft/protocol';
import type { PathChange, TreePath } from '../../../../core/history/ports/tree.ts';
import { inParallel } from '../../../../lib/concurrency/in-parallel.ts';
import { ancestorsOf, keyOfPath, markerOfKey, pathOfFileOrMarker } from '../../layout/object-keys.ts';
import { putBeside } from '../commit/keep-both-versions.ts';
import { type FetchedObject, fetchObject, toPieces } from '../working-copy/fetch-object.ts';
import { findLocalChanges } from '../working-copy/local-changes.ts';
import { type MountContext, requestsAtATime } from '../working-copy/mount-context.ts';
import { type RecordedObject, recordObject, toTreeEntry, updateBaseTree } from '../working-copy/publish-commit.ts';
import { readLocalEntry } from '../working-copy/read-local-entry.ts';
import { type FetchedObjects, findBlockingFile, planRefresh, splitByLocalChanges } from './plan-refresh.ts';

const maxTries = 5;

/**
 * Applies the changes of others to the working tree. A path with uncommitted local changes is left alone, and so is its
 * manifest entry: the next commit finds the conflict and reports it. Returns the keys that were left alone.
 */
export async function applyRemoteChanges(
  context: MountContext,
  keys: Iterable<string>,
  signal?: AbortSignal,
): Promise<Set<string>> {
  const wanted = [...keys].filter((key) => pathOfFileOrMarker(key) !== undefined);
  const moving = new Set<TreePath>();
  if (wanted.length === 0) return moving;
  await using incoming = await fetchAll(context, wanted, signal);
  const { found } = incoming;
  for (let tries = 0; tries < maxTries; tries++) {
    const { root, changes: local } = await findLocalChanges(context, signal);
    const { free, left } = splitByLocalChanges(wanted, local, moving);
    const block = await findBlockingFile(context, root, free, found);
    if (block !== undefined) {
      await moveAside(context, block);
      continue;
    }
    const { changes, taken } = await planRefresh(context, root, free, found);
    const late = await tryApplyAll(context, changes, found);
    if (late.length === 0) {
      await recordApplied(context, taken, found);
      await restoreMarkedDirectories(context, changes);
      return new Set(left);
    }
    // These paths are being changed right now, and must not delay the others.
    if (tries > 0) for (const path of late) moving.add(path);
  }
  return new Set(wanted);
}

async function fetchAll(context: MountContext, keys: readonly string[], signal?: AbortSignal) {
  const found = new Map<string, FetchedObject>();
  const dispose = async () => {
    for (const { content } of found.values()) await content[Symbol.asyncDispose]();
  };
  try {
    let done = 0;
    await inParallel(keys, requestsAtATime, async (key) => {
      const one = await fetchObject(context, key, signal);
      if (one) found.set(key, one);
      context.progress('fetch', ++done, keys.length);
    });
  } catch (thrown) {
    await dispose();
    throw thrown;
  }
  return { found: found as FetchedObjects, [Symbol.asyncDispose]: dispose };
}

/**
 * Moves a local file to a conflict name, because others made a directory of its path. The next commit stores it under
 * that name.
 */
async function moveAside(context: MountContext, path: TreePath): Promise<void> {
  const ours = (await readLocalEntry(context, path, 'file')) ?? (await readLocalEntry(context, path, 'link'));
  if (!ours) return;
  await using content = ours.content;
  const besidePath = await putBeside(context, path, { after: ours.entry }, content);
  await tryApplyAll(context, [{ path, before: ours.entry }], new Map());
  context.warn(`others made ${path} a directory: the local file is now ${besidePath}`);
}

/** Returns the paths that changed since they were planned; if there are any, nothing was applied. */
async function tryApplyAll(
  context: MountContext,
  changes: readonly PathChange[],
  found: FetchedObjects,
): Promise<readonly TreePath[]> {
  if (changes.length === 0) return [];
  try {
    await context.tree.apply(changes, { isFromStorage: true, read: (_, path) => contentOf(found, path) });
    return [];
  } catch (thrown) {
    if (!AppError.is(thrown) || thrown.code !== 'E_CONFLICT') throw thrown;
    const { paths } = thrown.details;
    return Array.isArray(paths) && paths.length > 0 ? paths : changes.map(({ path }) => path);
  }
}

async function* contentOf(found: FetchedObjects, path: TreePath): AsyncIterable<Buffer> {
  const incoming = found.get(keyOfPath(path) ?? '');
  if (!incoming) throw new AppError('E_STORAGE_FAILED', `there is no content for ${path}`);
  yield* toPieces(incoming.content);
}

async function recordApplied(context: MountContext, keys: readonly string[], found: FetchedObjects): Promise<void> {
  const recorded: RecordedObject[] = keys.map((key) => ({ key, known: found.get(key)?.known }));
  const base = await updateBaseTree(context, recorded);
  context.manifest.change(() => {
    for (const one of recorded) recordObject(context, one);
    context.manifest.setState({ base });
  });
}

/** Recreates directories that became empty and were removed, if their marker says that they stay. */
async function restoreMarkedDirectories(context: MountContext, changes: readonly PathChange[]): Promise<void> {
  const emptied = new Set(changes.filter(({ after }) => !after).flatMap(({ path }) => ancestorsOf(path)));
  const marked = [...emptied].filter((path) => context.manifest.get(markerOfKey(keyOfPath(path) ?? '')));
  if (marked.length === 0) return;
  const { root } = await findLocalChanges(context);
  for (const path of marked) {
    const known = context.manifest.get(markerOfKey(keyOfPath(path) ?? ''));
    if (known && !(await context.tree.entry(root, path)))
      await tryApplyAll(context, [{ path, after: toTreeEntry(known) }], new Map());
  }
}
