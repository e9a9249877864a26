import { AppError } from '@croft/protocol';
import type { PathChange, TreePath } from '../ports/tree.ts';
import type { WorkingTree } from '../ports/working-tree.ts';
import type { ChangeRecorder } from './change-recorder.ts';

interface RevertChangesOptions {
  readonly tree: Pick<WorkingTree, 'apply'>;
  readonly recorder: Pick<ChangeRecorder, 'runExclusive' | 'captureHash'>;
}

/**
 * Reverts changes file by file, so that a file that somebody has touched since does not keep the others from being
 * reverted. Leaves no undo step.
 */
export function createRevertChanges({ tree, recorder }: RevertChangesOptions) {
  async function revertOne({ path, before, after }: PathChange): Promise<boolean> {
    try {
      const { refused } = await tree.apply([{ path, before: after, after: before }]);
      return refused.length === 0;
    } catch (thrown) {
      // Somebody changed the file since, or the store lost its content: the file stays as it is, and the others are
      // reverted.
      if (AppError.is(thrown)) return false;
      throw thrown;
    }
  }

  return (changes: readonly PathChange[]): Promise<readonly TreePath[]> =>
    recorder.runExclusive(async () => {
      const stayed: TreePath[] = [];
      for (const change of changes) if (!(await revertOne(change))) stayed.push(change.path);
      return { result: stayed, after: await recorder.captureHash() };
    });
}
