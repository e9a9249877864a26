import { AppError } from '@croft/protocol';
import type { PathChange, TreePath } from '../../core/history/tree.ts';
import { inParallel } from '../../lib/in-parallel.ts';
import { putBeside } from './clashes.ts';
import { type Ground, requestsAtATime } from './ground.ts';
import { fetchIncoming, type Incoming, piecesOf } from './incoming.ts';
import { type Found, findBlock, planTaking, sortByDirty } from './incoming-plan.ts';
import { ancestorsOf, keyOf, markerOf, pathOfAny } from './keys.ts';
import { findLocalChanges } from './local-changes.ts';
import { readOutgoing } from './outgoing.ts';
import { note, plain, rebase, type Settled } from './settle.ts';

const maxTries = 5;

/**
 * Brings what others changed into the working tree. A path that was changed here and not committed yet is left as it is,
 * and so is what we know of it: the commit that has to tell somebody finds out. Answers the keys of those.
 */
export async function takeIn(ground: Ground, keys: Iterable<string>, signal?: AbortSignal): Promise<Set<string>> {
  const wanted = [...keys].filter((key) => pathOfAny(key) !== undefined);
  const moving = new Set<TreePath>();
  if (wanted.length === 0) return moving;
  await using incoming = await fetchAll(ground, wanted, signal);
  const { found } = incoming;
  for (let tries = 0; tries < maxTries; tries++) {
    const { root, changes: local } = await findLocalChanges(ground, signal);
    const { free, left } = sortByDirty(wanted, local, moving);
    const block = await findBlock(ground, root, free, found);
    if (block !== undefined) {
      await moveAside(ground, block);
      continue;
    }
    const { changes, taken } = await planTaking(ground, root, free, found);
    const late = await apply(ground, changes, found);
    if (late.length === 0) {
      await remember(ground, taken, found);
      await keepMarked(ground, changes);
      return new Set(left);
    }
    // Somebody works on these in this very moment: they do not keep the others from coming.
    if (tries > 0) for (const path of late) moving.add(path);
  }
  return new Set(wanted);
}

async function fetchAll(ground: Ground, keys: readonly string[], signal?: AbortSignal) {
  const found = new Map<string, Incoming>();
  const dispose = async () => {
    for (const { held } of found.values()) await held[Symbol.asyncDispose]();
  };
  try {
    let done = 0;
    await inParallel(keys, requestsAtATime, async (key) => {
      const one = await fetchIncoming(ground, key, signal);
      if (one) found.set(key, one);
      ground.progress('fetch', ++done, keys.length);
    });
  } catch (thrown) {
    await dispose();
    throw thrown;
  }
  return { found: found as Found, [Symbol.asyncDispose]: dispose };
}

/** A file whose name others have made a directory goes beside it, and is committed as what it is called then. */
async function moveAside(ground: Ground, path: TreePath): Promise<void> {
  const ours = (await readOutgoing(ground, path, 'file')) ?? (await readOutgoing(ground, path, 'link'));
  if (!ours) return;
  await using held = ours.held;
  const kept = await putBeside(ground, path, { after: ours.entry }, held);
  await apply(ground, [{ path, before: ours.entry }], new Map());
  ground.warn(`others made a directory of ${path}: the file is ${kept} now`);
}

/** Answers the paths that are not as they were when we looked; if there are any, nothing was done. */
async function apply(ground: Ground, changes: readonly PathChange[], found: Found): Promise<readonly TreePath[]> {
  if (changes.length === 0) return [];
  try {
    const { refused } = await ground.tree.apply(changes, { read: (_, path) => contentOf(found, path) });
    for (const path of refused) ground.warn(`left as it was, because no agent may change it: ${path}`);
    return [];
  } catch (thrown) {
    if (!AppError.is(thrown) || thrown.code !== 'E_CONFLICT') throw thrown;
    const { paths } = thrown.details;
    return Array.isArray(paths) && paths.length > 0 ? paths : changes.map(({ path }) => path);
  }
}

async function* contentOf(found: Found, path: TreePath): AsyncIterable<Buffer> {
  const incoming = found.get(keyOf(path) ?? '');
  if (!incoming) throw new AppError('E_STORAGE_FAILED', `there is no content for ${path}`);
  yield* piecesOf(incoming.held);
}

async function remember(ground: Ground, keys: readonly string[], found: Found): Promise<void> {
  const settled: Settled[] = keys.map((key) => ({ key, known: found.get(key)?.known }));
  const base = await rebase(ground, settled);
  ground.manifest.change(() => {
    for (const one of settled) note(ground, one);
    ground.manifest.setState({ base });
  });
}

/** A directory that is left empty goes, unless there is a marker that says it stays. */
async function keepMarked(ground: Ground, changes: readonly PathChange[]): Promise<void> {
  const emptied = new Set(changes.filter(({ after }) => !after).flatMap(({ path }) => ancestorsOf(path)));
  const marked = [...emptied].filter((path) => ground.manifest.get(markerOf(keyOf(path) ?? '')));
  if (marked.length === 0) return;
  const { root } = await findLocalChanges(ground);
  for (const path of marked) {
    const known = ground.manifest.get(markerOf(keyOf(path) ?? ''));
    if (known && !(await ground.tree.entry(root, path)))
      await apply(ground, [{ path, after: plain(known) }], new Map());
  }
}
