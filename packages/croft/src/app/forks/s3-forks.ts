import { z } from 'zod';
import {
  createForks,
  type ForkHost,
  type HostedFork,
  type NewHostedFork,
} from '../../core/history/forks/create-forks.ts';
import type { Forks } from '../../core/history/ports/forks.ts';
import type { History } from '../../core/history/ports/history.ts';
import type { HistoryStore } from '../../core/history/ports/history-store.ts';
import { emptyTreeHash } from '../../core/history/ports/tree.ts';
import type { WorkingTree } from '../../core/history/ports/working-tree.ts';
import { createTreeArchive } from '../../core/history/trees/tree-archive.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import { createS3HistoryStore, namespaceOf, putTree } from '../../storages/index.ts';
import type { OpenedWorkspaces, WorkspaceRecord } from '../workspaces/opened-workspaces.ts';
import type { ForkWorkspaceRecords } from './fork-workspace-records.ts';

/** A note in the history of the forked workspace, under the id of the fork, where every server finds it. */
const ForkNote = z.object({ name: z.string(), createdAt: z.string(), root: z.string().regex(/^[0-9a-f]{64}$/) });

interface S3ForksOptions {
  readonly openedWorkspaces: OpenedWorkspaces;
  readonly records: ForkWorkspaceRecords;
  openObjects(record: WorkspaceRecord): Promise<ObjectStore>;
}

interface OpenedParent {
  readonly parent: WorkspaceRecord;
  readonly tree: WorkingTree;
  readonly objects: ObjectStore;
  /** Stores the snapshots of the parent. */
  readonly archive: HistoryStore;
}

/** Time limit for work that continues after its caller stopped waiting. */
const finishMs = 10 * 60_000;

/**
 * Forks of a workspace in a bucket. Each fork has all its files in the bucket, and its starting tree is stored with its
 * parent.
 */
export function openS3Forks(parent: WorkspaceRecord, history: History, options: S3ForksOptions): Forks {
  async function within<T>(work: (forks: Forks) => Promise<T>): Promise<T> {
    const objects = await options.openObjects(parent);
    try {
      const archive = createS3HistoryStore({ objects, namespace: namespaceOf(parent.accountId, parent.id) });
      const tree = await options.openedWorkspaces.of(parent).tree();
      return await work(
        createForks({ tree, history, archive, host: createForkHost({ parent, tree, objects, archive }, options) }),
      );
    } finally {
      objects.close();
    }
  }
  return {
    fork: (wanted) => within((forks) => forks.fork(wanted)),
    list: () => within((forks) => forks.list()),
    merge: (wanted) => within((forks) => forks.merge(wanted)),
    remove: (name) => within((forks) => forks.remove(name)),
  };
}

function createForkHost(opened: OpenedParent, { openedWorkspaces, records }: S3ForksOptions): ForkHost {
  const { parent, tree, archive } = opened;
  const archived = createTreeArchive(tree.store, archive);

  /** Stores the tree before the note, so that no note refers to missing content. */
  async function storeNote({ workspaceId, name, createdAt, root }: HostedFork, signal: AbortSignal): Promise<void> {
    await archived.put(root, signal);
    await archive.put([], [{ kind: 'fork', name: workspaceId, note: { name, createdAt, root } }]);
  }

  async function read(workspaceId: string, note: unknown): Promise<HostedFork[]> {
    const { data } = ForkNote.safeParse(note);
    if (!data) return [];
    const record = await records.find(workspaceId);
    // The record is made before the note, so a missing record means that the fork was removed.
    if (!record) await archive.dropNotes('fork', [workspaceId]);
    // Anyone with access to the bucket may have written the note, so it must not open another workspace.
    if (record?.config.forkOf !== parent.id || !(await records.has(workspaceId))) return [];
    return [{ ...data, workspaceId, parent: parent.name }];
  }

  return {
    async list() {
      const notes = await archive.notes('fork');
      const forks = await Promise.all(notes.map(({ name, note }) => read(name, note)));
      return forks.flat().sort((one, other) => one.createdAt.localeCompare(other.createdAt));
    },
    async create(wanted) {
      const { name, root, signal } = wanted;
      const record = await records.add(name);
      const fork = { name, workspaceId: record.id, parent: parent.name, createdAt: new Date().toISOString(), root };
      try {
        await copyParentFiles(record, wanted, opened);
        await storeNote(fork, signal);
        await records.attach(name, record.id);
        return fork;
      } catch (thrown) {
        await archive.dropNotes('fork', [record.id]).catch(() => {});
        // If its objects cannot be deleted now, the fork stays, empty or incomplete, and can be deleted later.
        await records.undo(record.id).catch(() => {});
        throw thrown;
      }
    },
    async remove({ workspaceId }) {
      await records.remove(workspaceId);
      await archive.dropNotes('fork', [workspaceId]);
    },
    async openTree({ workspaceId }) {
      const workspace = openedWorkspaces.of(await records.mustFind(workspaceId));
      const call = { tool: 'workspace_merge', access: 'read', session: '', title: '' } as const;
      // Includes what other servers committed to the fork.
      return workspace.wrapCall({ ...call, signal: AbortSignal.timeout(finishMs) }, () => workspace.tree());
    },
    noteMerged: (fork, root) => storeNote({ ...fork, root }, AbortSignal.timeout(finishMs)),
  };
}

/** Copies all files of the parent, with ignored files and `.git`, and applies `changes`. */
async function copyParentFiles(
  { accountId, id }: WorkspaceRecord,
  { changes, signal }: NewHostedFork,
  { tree, objects }: OpenedParent,
): Promise<void> {
  const now = await tree.capture({ scope: 'all', signal });
  const whole = await tree.diff(emptyTreeHash, await tree.amend(now.root, changes));
  await putTree(whole, { objects, namespace: namespaceOf(accountId, id), store: tree.store, signal });
}
