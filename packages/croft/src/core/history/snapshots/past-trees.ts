import { AppError } from '@croft/protocol';
import { toCheckpoint } from '../checkpoints/undo.ts';
import { type CheckpointLog, checkpointNotFound, findUndone } from '../logs/checkpoint-log.ts';
import type { SnapshotLog } from '../logs/snapshot-log.ts';
import type { PastTrees } from '../ports/history.ts';
import type { TreeEntry, TreeHash, TreePath } from '../ports/tree.ts';
import type { WorkingTree } from '../ports/working-tree.ts';
import { decodeListing } from '../trees/listing-codec.ts';
import { toFileDiffs } from '../trees/text-diff.ts';
import type { TreeArchive } from '../trees/tree-archive.ts';

interface PastTreesOptions {
  readonly tree: WorkingTree;
  readonly archive: TreeArchive;
  readonly log: CheckpointLog;
  readonly snapshots: SnapshotLog;
}

/** Larger files of a snapshot are restored and not shown. */
export const maxShownBytes = 8 * 1024 * 1024;

/** Shows what calls changed, and files as they were in a snapshot. Changes nothing. */
export function createPastTrees({ tree, archive, log, snapshots }: PastTreesOptions): PastTrees {
  return {
    async diffOf(id, signal) {
      const all = await log.list();
      const found = all.find(({ name }) => name === id);
      if (!found) throw checkpointNotFound(id, all);
      const isUndone = findUndone(all);
      const changes = await tree.diff(found.note.before, found.note.after);
      return {
        checkpoint: toCheckpoint(found, isUndone(found) ? found.note.undoneBy : undefined),
        changes: await toFileDiffs(changes, archive, signal),
      };
    },
    async list(snapshot, directory) {
      const root = await rootOf(snapshot);
      const entry = directory === '' ? { kind: 'directory' as const, hash: root } : await find(root, directory);
      if (entry?.kind !== 'directory') throw notThere(directory, snapshot);
      const listed = decodeListing(await archive.read(entry.hash));
      return listed.map(({ name, ...rest }) => ({
        path: directory === '' ? name : `${directory}/${name}`,
        entry: rest,
      }));
    },
    async read(snapshot, path) {
      const entry = await find(await rootOf(snapshot), path);
      if (entry?.kind !== 'file') throw notThere(path, snapshot);
      if (entry.size <= maxShownBytes) return archive.read(entry.hash);
      throw new AppError('E_TOO_LARGE', `${path} has ${entry.size} bytes: restore the snapshot to read it`, {
        details: { path, size: entry.size },
      });
    },
  };

  async function rootOf(name: string): Promise<TreeHash> {
    return (await snapshots.mustFind(name)).note.root;
  }

  async function find(root: TreeHash, path: TreePath): Promise<TreeEntry | undefined> {
    let found: TreeEntry | undefined;
    let listing: string | undefined = root;
    for (const name of path.split('/')) {
      if (listing === undefined) return undefined;
      found = decodeListing(await archive.read(listing)).find((entry) => entry.name === name);
      listing = found?.kind === 'directory' ? found.hash : undefined;
    }
    return found;
  }
}

function notThere(path: string, snapshot: string): AppError {
  return new AppError('E_FILE_NOT_FOUND', `there is no ${path || 'folder'} in the snapshot ${snapshot}`, {
    details: { path, snapshot },
  });
}
