import type { Archive } from './archive.ts';
import type { SnapshotNote } from './notes.ts';
import type { SnapshotLog } from './snapshot-log.ts';
import type { TreeScope } from './tree.ts';
import type { WorkingTree } from './working-tree.ts';

const maxMissed = 100;

export interface TakeOptions {
  readonly tree: WorkingTree;
  readonly archive: Archive;
  readonly snapshots: SnapshotLog;
  now(): Date;
}

export interface SnapshotRequest {
  readonly name: string;
  readonly description: string;
  readonly includesIgnored: boolean;
  readonly isAutomatic?: true;
  readonly signal: AbortSignal;
}

export type TakeSnapshot = ReturnType<typeof createTakeSnapshot>;

/** Remembers the tree as it is under a name. Everything in it is kept, whatever its size. */
export function createTakeSnapshot({ tree, archive, snapshots, now }: TakeOptions) {
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
