import { AppError } from '@croft/protocol';
import type { PathChange, TreeHash, TreePath } from '../history/ports/tree.ts';
import { maxStoredFileBytes, type TreeMoment, type WorkingTree } from '../history/ports/working-tree.ts';

/** The state of a workspace before a call. */
export interface Baseline {
  /** Absent: the history had no space for it. Only files that the call makes can be removed again then. */
  readonly root: TreeHash | undefined;
  readonly mark: TreeMoment;
}

export async function takeBaseline(tree: WorkingTree): Promise<Baseline> {
  const captured = await tree.capture({ scope: 'source', maxFileBytes: maxStoredFileBytes }).catch(ignoreFull);
  return { root: captured?.root, mark: await tree.markMoment() };
}

/** A call that frees space must run on a full disk too. */
function ignoreFull(thrown: unknown): undefined {
  if (!AppError.is(thrown) || thrown.code !== 'E_STORAGE_FULL') throw thrown;
}

/** Background programs may change the same files meanwhile, so that an attempt can fail. */
const attempts = 3;

/**
 * Reverts a workspace: restores files from the history, and removes new files that the history does not have because
 * git ignores them or they are too large. Resolves with the changed paths. Never throws: the caller checks what is
 * left.
 */
export async function revertToBaseline(tree: WorkingTree, { root, mark }: Baseline): Promise<TreePath[]> {
  const bring = async () => (root === undefined ? [] : bringBack(tree, root));
  const brought = await bring().catch(() => undefined);
  const removed = await tree.removeFilesMadeSince(mark).catch(() => []);
  // Removal comes first: on a full disk, it makes the space for the files that are restored.
  const late = brought ?? (await bring().catch(() => []));
  return [...new Set([...late, ...removed])].sort();
}

async function bringBack(tree: WorkingTree, root: TreeHash): Promise<TreePath[]> {
  for (let attempt = 1; ; attempt++) {
    const now = await tree.capture({ scope: 'source', maxFileBytes: maxStoredFileBytes });
    const changes = await restorableOf(tree, await tree.diff(now.root, root));
    try {
      const refused = new Set((await tree.apply(changes)).refused);
      return changes.map(({ path }) => path).filter((path) => !refused.has(path));
    } catch (thrown) {
      if (attempt === attempts) throw thrown;
    }
  }
}

/** Leaves out files whose content was too large to store: they stay as the call left them. */
async function restorableOf(tree: WorkingTree, changes: readonly PathChange[]): Promise<PathChange[]> {
  const needed = changes.flatMap(({ after }) => (after && after.kind !== 'directory' ? [after.hash] : []));
  const lacking = await tree.store.findMissing(needed);
  return changes.filter(({ after }) => !after || after.kind === 'directory' || !lacking.has(after.hash));
}
