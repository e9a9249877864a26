import { AppError } from '@croft/protocol';
import type { CheckpointLog } from './checkpoint-log.ts';
import type { Marks } from './marks.ts';
import type { SnapshotLog } from './snapshot-log.ts';
import type { HistoryStore } from './store.ts';
import type { Root, TreeScope } from './tree.ts';

export interface RestoreTarget {
  readonly name: string;
  readonly root: Root;
  readonly scope: TreeScope;
}

export interface TargetOptions {
  readonly stores: readonly HistoryStore[];
  readonly log: CheckpointLog;
  readonly snapshots: SnapshotLog;
  readonly marks: Marks;
}

/** Which tree is meant. Throws `E_NOT_FOUND`. */
export function createFindTarget({ stores, log, snapshots, marks }: TargetOptions) {
  async function isThere(root: Root): Promise<boolean> {
    const lacking = await Promise.all(stores.map((store) => store.lacks([root])));
    return lacking.some(({ size }) => size === 0);
  }

  async function findGreen(): Promise<RestoreTarget> {
    for (const root of await marks.green())
      if (await isThere(root)) return { name: await nameOf(root), root, scope: 'source' };
    const reason = 'no state of this workspace is known whose tests passed; run_tests makes it known';
    throw new AppError('E_NOT_FOUND', reason);
  }

  async function nameOf(root: Root): Promise<string> {
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
