import { findFork, mustBeNew } from '../../core/history/create-forks.ts';
import type { Fork, Forks } from '../../core/history/forks.ts';
import type { OfferedFork, OfferedForks } from '../../core/runners/offer.ts';
import { namespaceOf } from '../../storages/index.ts';
import type { ForkedRecords } from '../forked-records.ts';
import type { WorkspaceRecord } from '../places.ts';

export interface ForksThereMeans {
  readonly records: ForkedRecords;
  /** Of the machine that has the workspace, as it is connected now. */
  open(): Promise<OfferedForks>;
  /** Takes what has no record away from that machine. */
  removeFiles(workspaceId: string): Promise<unknown>;
}

/** Forks of a workspace on a runner: their files are there and nowhere else, and their records here. */
export function createForksThere(parent: WorkspaceRecord, { records, open, removeFiles }: ForksThereMeans): Forks {
  async function list(): Promise<Fork[]> {
    const there = await open();
    const found = await Promise.all((await there.list()).map((fork) => look(fork, there)));
    return found.flat();
  }

  async function look({ name, workspaceId, createdAt }: OfferedFork, there: OfferedForks): Promise<Fork[]> {
    const record = await records.find(workspaceId);
    if (!record) await clean({ name, workspaceId }, there);
    if (!record || !isIts(record) || !(await records.has(workspaceId))) return [];
    return [{ name, workspaceId, createdAt, parent: parent.name }];
  }

  /** The record is made before the files, so that it is gone and not still to come: nobody was there to remove them. */
  async function clean({ name, workspaceId }: Pick<Fork, 'name' | 'workspaceId'>, there: OfferedForks): Promise<void> {
    try {
      await removeFiles(workspaceId);
      await there.forget(name);
    } catch {
      // Whoever asks next tries it again.
    }
  }

  /** A machine that names another workspace gets nothing by it. */
  function isIts({ config }: WorkspaceRecord): boolean {
    return config.forkOf === parent.id && config.home === parent.config.home;
  }

  return {
    list,
    async fork({ name, snapshot, signal }) {
      mustBeNew(name, await list());
      const there = await open();
      const { id } = await records.add(name);
      try {
        const wish = { namespace: namespaceOf(parent.accountId, id), workspaceId: id, name, snapshot };
        const { createdAt } = await there.fork(wish, signal);
        await records.attach(name, id);
        return { name, workspaceId: id, parent: parent.name, createdAt };
      } catch (thrown) {
        await records.undo(id);
        throw thrown;
      }
    },
    async merge(wanted) {
      findFork(await list(), wanted.fork);
      return (await open()).merge(wanted);
    },
    async remove(name) {
      const { workspaceId } = findFork(await list(), name);
      await records.remove(workspaceId);
      // It is removed. What it started as goes with the next of its name at the latest.
      await open()
        .then((there) => there.forget(name))
        .catch(() => {});
    },
  };
}
