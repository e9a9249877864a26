import { AppError } from '@croft/protocol';
import type { CheckpointLog } from '../logs/checkpoint-log.ts';
import type { SnapshotLog } from '../logs/snapshot-log.ts';
import type { VerdictLog } from '../logs/verdict-log.ts';
import type { HistoryStore } from '../ports/history-store.ts';
import type { TreeHash, TreeScope } from '../ports/tree.ts';

export interface RestoreTarget {
  readonly name: string;
  readonly root: TreeHash;
  readonly scope: TreeScope;
}

interface RestoreTargetOptions {
  readonly stores: readonly HistoryStore[];
  readonly log: CheckpointLog;
  readonly snapshots: SnapshotLog;
  readonly verdicts: VerdictLog;
}

/** Finds the tree to restore. Throws `E_NOT_FOUND`. */
export function createFindRestoreTarget({ stores, log, snapshots, verdicts }: RestoreTargetOptions) {
  async function isStored(root: TreeHash): Promise<boolean> {
    const lacking = await Promise.all(stores.map((store) => store.findMissing([root])));
    return lacking.some(({ size }) => size === 0);
  }

  async function findGreen(): Promise<RestoreTarget> {
    for (const root of await verdicts.green())
      if (await isStored(root)) return { name: await nameOf(root), root, scope: 'source' };
    throw new AppError('E_NOT_FOUND', 'no state of this workspace is known in which the tests passed', {
      hint: 'Nothing was changed. Name a snapshot; run_tests records a state when all tests pass.',
    });
  }

  async function nameOf(root: TreeHash): Promise<string> {
    const snapshot = (await snapshots.list()).find(({ note }) => note.source === root);
    if (snapshot) return snapshot.name;
    return (await log.list()).find(({ note }) => note.after === root)?.name ?? root.slice(0, 12);
  }

  return async (target: { name: string } | 'green'): Promise<RestoreTarget> => {
    if (target === 'green') return findGreen();
    const { name, note } = await snapshots.mustFind(target.name);
    return { name, root: note.root, scope: note.includesIgnored ? 'with-ignored' : 'source' };
  };
}
