import { AppError } from '@croft/protocol';
import type { PathChange, TreeHash, TreePath } from '../../../../core/history/ports/tree.ts';
import { maxStoredFileBytes } from '../../../../core/history/ports/working-tree.ts';
import { isMarker, keyOfPath, pathOfFileOrMarker } from '../../layout/object-keys.ts';
import type { MountContext } from './mount-context.ts';
import { toTreeEntry } from './publish-commit.ts';

interface LocalChanges {
  readonly root: TreeHash;
  /** Changes from the state of the bucket, according to the manifest, to the state on the disk. */
  readonly changes: readonly PathChange[];
  readonly missed: ReadonlySet<TreePath>;
}

/**
 * Finds all local changes that are not in the bucket. Contents are read again when they are sent, so none is stored
 * here.
 */
export async function findLocalChanges(context: MountContext, signal?: AbortSignal): Promise<LocalChanges> {
  const { root, missed } = await context.tree.capture({ scope: 'all', maxFileBytes: maxStoredFileBytes, signal });
  return { root, missed: new Set(missed), changes: withoutPlaceholders(context, await changesTo(context, root)) };
}

/** A placeholder is not a change, although its content differs from the file it stands for. */
function withoutPlaceholders({ manifest }: MountContext, changes: PathChange[]): PathChange[] {
  const placeholders = new Set(manifest.placeholders());
  return placeholders.size === 0 ? changes : changes.filter(({ path }) => !placeholders.has(keyOfPath(path) ?? ''));
}

async function changesTo(context: MountContext, root: TreeHash): Promise<PathChange[]> {
  try {
    return await context.tree.diff(context.manifest.state().base, root);
  } catch (thrown) {
    if (!AppError.is(thrown) || thrown.code !== 'E_STORAGE_FAILED') throw thrown;
    return compareWithManifest(context, root);
  }
}

/**
 * Compares without the base tree, which was collected or damaged: the manifest has the same information path by path.
 */
async function compareWithManifest({ tree, manifest }: MountContext, root: TreeHash): Promise<PathChange[]> {
  const gone = new Set(manifest.keys().filter((key) => !isMarker(key)));
  const changes: PathChange[] = [];
  for await (const { path, entry } of tree.entries(root)) {
    const key = keyOfPath(path);
    const known = key === undefined ? undefined : manifest.get(key);
    if (key !== undefined) gone.delete(key);
    changes.push({ path, before: known && toTreeEntry(known), after: entry });
  }
  for (const key of gone) {
    const [path, known] = [pathOfFileOrMarker(key), manifest.get(key)];
    if (path !== undefined && known) changes.push({ path, before: toTreeEntry(known) });
  }
  return changes;
}
