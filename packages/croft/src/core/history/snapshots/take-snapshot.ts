import type { SnapshotNote } from '../logs/notes.ts';
import type { SnapshotLog } from '../logs/snapshot-log.ts';
import type { TreeScope } from '../ports/tree.ts';
import type { WorkingTree } from '../ports/working-tree.ts';
import type { TreeArchive } from '../trees/tree-archive.ts';

const maxMissed = 100;

interface TakeSnapshotOptions {
  readonly tree: WorkingTree;
  readonly archive: TreeArchive;
  readonly snapshots: SnapshotLog;
  now(): Date;
}

interface SnapshotRequest {
  readonly name: string;
  readonly description: string;
  readonly includesIgnored: boolean;
  readonly isAutomatic?: true;
  readonly signal: AbortSignal;
}

export type TakeSnapshot = ReturnType<typeof createTakeSnapshot>;

/** Takes a snapshot of the tree as it is now. Stores every file, whatever its size. */
export function createTakeSnapshot({ tree, archive, snapshots, now }: TakeSnapshotOptions) {
  return async function take(request: SnapshotRequest): Promise<SnapshotNote> {
    const { name, description, includesIgnored, isAutomatic, signal } = request;
    const scope: TreeScope = includesIgnored ? 'with-ignored' : 'source';
    const { root, files, bytes, missed } = await tree.capture({ scope, signal });
    const source = includesIgnored ? (await tree.capture({ scope: 'source', signal })).root : root;
    await archive.put(root, signal);
    const note: SnapshotNote = {
      ...{ description, root, source, createdAt: now().toISOString(), files, bytes, includesIgnored },
      ...(isAutomatic && { isAutomatic }),
      ...(missed.length > 0 && { missed: missed.slice(0, maxMissed) }),
    };
    await snapshots.put(name, note);
    return note;
  };
}
