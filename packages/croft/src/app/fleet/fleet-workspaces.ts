import { AppError, runnerForks, runnerRemoves, runnerStores } from '@croft/protocol';
import { isInBucket, runnerNotConnected } from '../../core/accounts/surface/workspace-location.ts';
import type { RunnerForks, RunnerWorkspace, WorkspaceRequest } from '../../core/runner-workspaces/runner-workspace.ts';
import { runnerUnavailable } from '../../core/runners/choose-runner.ts';
import type { Peer } from '../../link/calls/peer.ts';
import { namespaceOf } from '../../storages/index.ts';
import type { WorkspaceRecord } from '../workspaces/opened-workspaces.ts';
import type { Fleet } from './fleet.ts';
import type { RunnerLink } from './runner-link.ts';
import type { ServedBuckets } from './served-buckets.ts';

interface FleetWorkspacesOptions {
  readonly fleet: Pick<Fleet, 'linkOf'>;
  /** Serves the buckets of workspaces that are in one. */
  readonly buckets: Pick<ServedBuckets, 'serve'>;
  /** Opens a workspace on the runner at the other end of the link. */
  openWorkspace(peer: Peer, request: WorkspaceRequest): Promise<RunnerWorkspace>;
  removeWorkspace(peer: Peer, namespace: string): Promise<boolean>;
}

export type FleetWorkspaces = ReturnType<typeof createFleetWorkspaces>;

/** Workspaces on runners. Each is opened once per link, whoever asks. */
export function createFleetWorkspaces({ fleet, buckets, openWorkspace, removeWorkspace }: FleetWorkspacesOptions) {
  const opened = new WeakMap<RunnerLink, Map<string, Promise<RunnerWorkspace>>>();

  /** `name` is the agent's name for the workspace. Throws `E_SANDBOX_UNAVAILABLE`. */
  async function open(record: WorkspaceRecord, runner: string, name: string): Promise<RunnerWorkspace> {
    const link = fleet.linkOf(record.accountId, runner);
    if (!link) throw runnerNotConnected(runner);
    mustSupport(link, runner, record);
    const ofLink = opened.get(link) ?? new Map<string, Promise<RunnerWorkspace>>();
    opened.set(link, ofLink);
    const request = { ...toWorkspaceRequest(record, name), bucket: buckets.serve(link, record) };
    const key = JSON.stringify(request);
    const opening = ofLink.get(key) ?? openWorkspace(link.peer, request);
    ofLink.set(key, opening);
    try {
      return await opening;
    } catch (thrown) {
      ofLink.delete(key);
      throw toUnavailable(runner, AppError.from(thrown));
    }
  }

  return {
    open,
    /** Throws `E_SANDBOX_UNAVAILABLE` if the runner is not connected or cannot fork. */
    async openForks(record: WorkspaceRecord, runner: string): Promise<RunnerForks> {
      const link = fleet.linkOf(record.accountId, runner);
      if (link && !link.capabilities.includes(runnerForks))
        throw runnerUnavailable(`the runner ${runner} has an older release, which cannot fork workspaces: update it`, {
          runner,
        });
      const { forks } = await open(record, runner, record.id);
      if (!forks) throw runnerUnavailable(`the runner ${runner} makes no forks of this workspace`, { runner });
      return forks;
    },
    /** Returns whether the runner had files of the workspace. Throws if the files cannot be removed, or not now. */
    async remove({ accountId, id }: Pick<WorkspaceRecord, 'accountId' | 'id'>, runner: string): Promise<boolean> {
      const link = fleet.linkOf(accountId, runner);
      if (link?.state() !== 'online') throw runnerNotConnected(runner);
      if (!link.capabilities.includes(runnerRemoves))
        throw runnerUnavailable(
          `the runner ${runner} has an older release, which cannot remove workspaces: update it`,
          {
            runner,
          },
        );
      const namespace = namespaceOf(accountId, id);
      for (const key of opened.get(link)?.keys() ?? []) if (key.includes(namespace)) opened.get(link)?.delete(key);
      return removeWorkspace(link.peer, namespace);
    },
    /**
     * Changes whenever the runner reconnects with a new link or disconnects: everything that was open on it is gone.
     */
    markOf: (accountId: string, runner: string): string => fleet.linkOf(accountId, runner)?.id ?? 'offline',
  };
}

function toWorkspaceRequest(
  { accountId, id, name: workspace, config }: WorkspaceRecord,
  name: string,
): WorkspaceRequest {
  return { namespace: namespaceOf(accountId, id), workspace, name, quota: config.quota };
}

/** A runner that does not support buckets or quotas would keep the files to itself, or exceed the quota. */
function mustSupport({ capabilities }: RunnerLink, runner: string, record: WorkspaceRecord): void {
  const isStored = isInBucket(record) || record.config.quota !== undefined;
  if (!isStored || capabilities.includes(runnerStores)) return;
  const what = isInBucket(record) ? 'cannot open a workspace in a bucket' : 'cannot enforce a quota';
  throw runnerUnavailable(`the runner ${runner} has an older release, which ${what}: update it`, { runner });
}

/** A runner that does not have the workspace counts as unavailable. */
function toUnavailable(runner: string, error: AppError): AppError {
  if (error.code !== 'E_NOT_FOUND') return error;
  return runnerUnavailable(`the runner ${runner} does not offer this workspace`, { runner });
}
