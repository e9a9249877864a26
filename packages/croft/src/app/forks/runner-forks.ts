import { findFork, mustBeNewFork } from '../../core/history/forks/create-forks.ts';
import type { Fork, Forks } from '../../core/history/ports/forks.ts';
import type { RunnerFork, RunnerForks } from '../../core/runner-workspaces/runner-workspace.ts';
import { namespaceOf } from '../../storages/index.ts';
import type { WorkspaceRecord } from '../workspaces/opened-workspaces.ts';
import type { ForkWorkspaceRecords } from './fork-workspace-records.ts';

interface RunnerForksOptions {
  readonly records: ForkWorkspaceRecords;
  /** Opens the forks of the runner that has the workspace, over its current link. */
  open(): Promise<RunnerForks>;
  /** Removes the files of a fork without a record from that runner. */
  removeFiles(workspaceId: string): Promise<unknown>;
}

/**
 * Forks of a workspace on a runner. Their files are only on the runner, and their records are on the server. Runs on
 * the server.
 */
export function createRunnerForks(parent: WorkspaceRecord, { records, open, removeFiles }: RunnerForksOptions): Forks {
  async function list(): Promise<Fork[]> {
    const runnerForks = await open();
    const found = await Promise.all((await runnerForks.list()).map((fork) => withRecord(fork, runnerForks)));
    return found.flat();
  }

  async function withRecord({ name, workspaceId, createdAt }: RunnerFork, runnerForks: RunnerForks): Promise<Fork[]> {
    const record = await records.find(workspaceId);
    if (!record) await clean({ name, workspaceId }, runnerForks);
    if (!record || !isIts(record) || !(await records.has(workspaceId))) return [];
    return [{ name, workspaceId, createdAt, parent: parent.name }];
  }

  /**
   * Removes a fork without a record. The record is made before the files, so it was removed while the runner was away.
   */
  async function clean(
    { name, workspaceId }: Pick<Fork, 'name' | 'workspaceId'>,
    runnerForks: RunnerForks,
  ): Promise<void> {
    try {
      await removeFiles(workspaceId);
      await runnerForks.forget(name);
    } catch {
      // The next caller tries again.
    }
  }

  /** A runner that names a workspace which is no fork of this one gets no access by it. */
  function isIts({ config }: WorkspaceRecord): boolean {
    return config.forkOf === parent.id && config.home === parent.config.home;
  }

  return {
    list,
    async fork({ name, snapshot, signal }) {
      mustBeNewFork(name, await list());
      const there = await open();
      const { id } = await records.add(name);
      try {
        const request = { namespace: namespaceOf(parent.accountId, id), workspaceId: id, name, snapshot };
        const { createdAt } = await there.fork(request, signal);
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
      // The fork is removed. Its starting tree is dropped with the next fork of that name at the latest.
      await open()
        .then((there) => there.forget(name))
        .catch(() => {});
    },
  };
}
