import type { VerdictLog } from '../logs/verdict-log.ts';
import type { CheckVerdict } from '../ports/history.ts';
import type { TreeHash } from '../ports/tree.ts';
import type { WorkingTree } from '../ports/working-tree.ts';
import type { ChangeRecorder } from './change-recorder.ts';

interface RecordVerdictsOptions {
  readonly tree: WorkingTree;
  readonly recorder: Pick<ChangeRecorder, 'captureHash'>;
  readonly verdicts: VerdictLog;
  onWarning(message: string): void;
}

/**
 * Records the verdicts of checks on the trees that they ran on. An error here is a warning and does not fail the check.
 */
export function createRecordVerdicts({ tree, recorder, verdicts, onWarning }: RecordVerdictsOptions) {
  const warn = (thrown: unknown): undefined => {
    onWarning(`the verdict of a check cannot be recorded: ${thrown}`);
  };

  async function note(check: CheckVerdict, of: TreeHash): Promise<void> {
    const root = await recorder.captureHash();
    // New files are left by the check itself and do not matter. Files that existed before it must be unchanged.
    const changes = root === of ? [] : await tree.diff(of, root);
    if (changes.some(({ before }) => before !== undefined)) return;
    for (const each of new Set([of, root])) await verdicts.add(each, check);
  }

  return {
    captureSource: (): Promise<TreeHash | undefined> => recorder.captureHash().catch(warn),
    recordVerdict: async (check: CheckVerdict, of: TreeHash | undefined): Promise<void> => {
      if (of !== undefined) await note(check, of).catch(warn);
    },
  };
}
