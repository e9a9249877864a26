import { z } from 'zod';
import { createArchive } from '../core/history/archive.ts';
import { createForks, type ForkHost, type HostedFork, type NewHostedFork } from '../core/history/create-forks.ts';
import type { Forks } from '../core/history/forks.ts';
import type { History } from '../core/history/history.ts';
import type { HistoryStore } from '../core/history/store.ts';
import { emptyRoot } from '../core/history/tree.ts';
import type { WorkingTree } from '../core/history/working-tree.ts';
import type { ObjectStore } from '../core/objects.ts';
import { createS3Store, namespaceOf, putTree } from '../storages/index.ts';
import type { ForkedRecords } from './forked-records.ts';
import type { Places, WorkspaceRecord } from './places.ts';

/** In the history of the workspace that was forked, under the id of the fork: every server finds it there. */
const ForkNote = z.object({ name: z.string(), createdAt: z.string(), root: z.string().regex(/^[0-9a-f]{64}$/) });

export interface S3ForksMeans {
  readonly places: Places;
  readonly records: ForkedRecords;
  openObjects(record: WorkspaceRecord): Promise<ObjectStore>;
}

interface Opened {
  readonly parent: WorkspaceRecord;
  readonly tree: WorkingTree;
  readonly objects: ObjectStore;
  /** Where the parent's snapshots are. */
  readonly archive: HistoryStore;
}

/** What is done whether or not whoever asked still waits. */
const finishMs = 10 * 60_000;

/** Forks of a workspace in a bucket: each has all its files there, and what it started as is kept with its parent. */
export function openS3Forks(parent: WorkspaceRecord, history: History, means: S3ForksMeans): Forks {
  async function within<T>(work: (forks: Forks) => Promise<T>): Promise<T> {
    const objects = await means.openObjects(parent);
    try {
      const archive = createS3Store({ objects, namespace: namespaceOf(parent.accountId, parent.id) });
      const tree = await means.places.of(parent).tree();
      return await work(
        createForks({ tree, history, archive, host: createHost({ parent, tree, objects, archive }, means) }),
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

function createHost(opened: Opened, { places, records }: S3ForksMeans): ForkHost {
  const { parent, tree, archive } = opened;
  const kept = createArchive(tree.store, archive);

  /** Never a note whose contents are not there. */
  async function remember({ workspaceId, name, createdAt, root }: HostedFork, signal: AbortSignal): Promise<void> {
    await kept.put(root, signal);
    await archive.keep([], [{ kind: 'fork', name: workspaceId, note: { name, createdAt, root } }]);
  }

  async function read(workspaceId: string, note: unknown): Promise<HostedFork[]> {
    const { data } = ForkNote.safeParse(note);
    if (!data) return [];
    const record = await records.find(workspaceId);
    // The record is made before the note, so that it is gone and not still to come.
    if (!record) await archive.dropNotes('fork', [workspaceId]);
    // Whoever has the bucket may have written the note, and gets no other workspace by it.
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
        await fill(record, wanted, opened);
        await remember(fork, signal);
        await records.attach(name, record.id);
        return fork;
      } catch (thrown) {
        await archive.dropNotes('fork', [record.id]).catch(() => {});
        await records.undo(record.id);
        throw thrown;
      }
    },
    async remove({ workspaceId }) {
      await records.remove(workspaceId);
      await archive.dropNotes('fork', [workspaceId]);
    },
    async openTree({ workspaceId }) {
      const place = places.of(await records.mustFind(workspaceId));
      const call = { tool: 'workspace_merge', access: 'read', session: '', title: '' } as const;
      // What was done in it on other servers counts too.
      return place.around({ ...call, signal: AbortSignal.timeout(finishMs) }, () => place.tree());
    },
    noteMerged: (fork, root) => remember({ ...fork, root }, AbortSignal.timeout(finishMs)),
  };
}

/** All of the parent, ignored files and `.git` too, but for what is to be other. */
async function fill(
  { accountId, id }: WorkspaceRecord,
  { changes, signal }: NewHostedFork,
  { tree, objects }: Opened,
): Promise<void> {
  const now = await tree.capture({ scope: 'all', signal });
  const whole = await tree.diff(emptyRoot, await tree.amend(now.root, changes));
  await putTree(whole, { objects, namespace: namespaceOf(accountId, id), store: tree.store, signal });
}
