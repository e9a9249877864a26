import { AppError } from '@croft/protocol';
import type { PathChange, Root, TreePath } from '../../core/history/tree.ts';
import type { Ground } from './ground.ts';
import { isMarker, keyOf, pathOfAny } from './keys.ts';
import { plain } from './settle.ts';

export interface LocalChanges {
  readonly root: Root;
  /** From what the bucket has, as far as we know, to what is here. */
  readonly changes: readonly PathChange[];
  readonly missed: ReadonlySet<TreePath>;
}

/** As the history has it: what one of the two keeps, the other need not read again. */
const maxFileBytes = 32 * 1024 * 1024;

/** What is here and not yet in the bucket. Contents are read again when they are sent, so that none has to be kept. */
export async function findLocalChanges(ground: Ground, signal?: AbortSignal): Promise<LocalChanges> {
  const { root, missed } = await ground.tree.capture({ scope: 'all', maxFileBytes, signal });
  return { root, missed: new Set(missed), changes: withoutHoles(ground, await changesTo(ground, root)) };
}

/** A file that has only been named so far is as it should be, whatever its hole reads as. */
function withoutHoles({ manifest }: Ground, changes: PathChange[]): PathChange[] {
  const holes = new Set(manifest.holes());
  return holes.size === 0 ? changes : changes.filter(({ path }) => !holes.has(keyOf(path) ?? ''));
}

async function changesTo(ground: Ground, root: Root): Promise<PathChange[]> {
  try {
    return await ground.tree.diff(ground.manifest.state().base, root);
  } catch (thrown) {
    if (!AppError.is(thrown) || thrown.code !== 'E_STORAGE_FAILED') throw thrown;
    return compareWhole(ground, root);
  }
}

/** Where the base was cleared away, or has rotted: the manifest has the same, path by path. */
async function compareWhole({ tree, manifest }: Ground, root: Root): Promise<PathChange[]> {
  const gone = new Set(manifest.keys().filter((key) => !isMarker(key)));
  const changes: PathChange[] = [];
  for await (const { path, entry } of tree.entries(root)) {
    const key = keyOf(path);
    const known = key === undefined ? undefined : manifest.get(key);
    if (key !== undefined) gone.delete(key);
    changes.push({ path, before: known && plain(known), after: entry });
  }
  for (const key of gone) {
    const [path, known] = [pathOfAny(key), manifest.get(key)];
    if (path !== undefined && known) changes.push({ path, before: plain(known) });
  }
  return changes;
}
