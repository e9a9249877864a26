import { AppError } from '@croft/protocol';
import type { Actor, ResourceCollection, WorkspaceConfig } from '../../core/accounts/ports/registry.ts';
import type { AgentSurface, AttachedWorkspace } from '../../core/accounts/surface/resolve-surface.ts';
import { hasNoHome, isOnRunner, mustBeMovable, mustHaveHome } from '../../core/accounts/surface/workspace-location.ts';
import type { RunnerWorkspace } from '../../core/runner-workspaces/runner-workspace.ts';
import { chooseRunner } from '../../core/runners/choose-runner.ts';
import type { WorkspaceRecord } from '../workspaces/opened-workspaces.ts';
import type { Fleet } from './fleet.ts';
import type { FleetWorkspaces } from './fleet-workspaces.ts';
import { createRunnerChoices } from './runner-choices.ts';

/** The workspaces of an agent that are on runners: each opened, or the error that says why it cannot be opened. */
export interface RemoteSurface {
  readonly mark: string;
  readonly workspaces: ReadonlyMap<string, RunnerWorkspace | AppError>;
}

interface RemoteSurfacesOptions {
  readonly fleet: Pick<Fleet, 'candidates'>;
  readonly fleetWorkspaces: FleetWorkspaces;
  readonly workspaces: Pick<ResourceCollection<WorkspaceConfig>, 'patch'>;
  /** Whether this server has files of a workspace. A runner would not see them. */
  hasFiles(record: WorkspaceRecord): boolean;
}

export type RemoteSurfaces = ReturnType<typeof createRemoteSurfaces>;

/**
 * Decides which runner each workspace of an agent is on, at its first use. A workspace whose files are on a runner
 * stays there.
 */
export function createRemoteSurfaces({ fleet, fleetWorkspaces, workspaces, hasFiles }: RemoteSurfacesOptions) {
  const choices = createRunnerChoices();
  return {
    /** Binds workspaces that have no runner yet. Returns whether a record was changed. */
    async bindToRunners({ workspaces: attached }: AgentSurface): Promise<boolean> {
      const unbound = attached.filter((one) => isOnRunner(one) && one.record.config.home === undefined);
      if (unbound.length === 0) return false;
      const bound = await Promise.all(unbound.filter((one) => !hasNoHome(one)).map(bind));
      return bound.some(Boolean);
    },

    async openWorkspaces({ workspaces: attached }: AgentSurface): Promise<RemoteSurface> {
      const own = attached.filter(isOnRunner);
      if (own.length === 0) return nothing;
      const opened = await Promise.all(own.map(openOrExplain));
      return {
        mark: JSON.stringify(opened.map(({ record, mark }) => [record.id, mark])),
        workspaces: new Map(opened.map(({ record, name, workspace }) => [toWorkspaceKey(record.id, name), workspace])),
      };
    },
  };

  async function bind(attached: AttachedWorkspace): Promise<boolean> {
    const { record, sandbox } = attached;
    try {
      mustBeMovable(attached, hasFiles(record));
      const home = chooseRunner(fleet.candidates(record.accountId), sandbox?.config ?? {});
      // No workspace is bound to a runner that is not connected.
      if (fleetWorkspaces.markOf(record.accountId, home) === 'offline') return false;
      await workspaces.patch(server(record.accountId), record.id, { config: { home } }, { version: record.version });
      return true;
    } catch {
      // No runner fits, or another call was faster: opening the workspace reports which.
      return false;
    }
  }

  async function openOrExplain(attached: AttachedWorkspace): Promise<OpenedOrError> {
    const { record, name } = attached;
    try {
      mustBeMovable(attached, record.config.home === undefined && hasFiles(record));
      const runner = machineOf(attached);
      const opened = await fleetWorkspaces.open(record, runner, name);
      return { record, name, workspace: opened, mark: fleetWorkspaces.markOf(record.accountId, runner) };
    } catch (thrown) {
      const failure = AppError.from(thrown);
      return { record, name, workspace: failure, mark: failure.message };
    }
  }

  function machineOf(attached: AttachedWorkspace): string {
    const candidates = fleet.candidates(attached.record.accountId);
    return hasNoHome(attached) ? choices.of(attached, candidates) : mustHaveHome(attached, candidates);
  }
}

interface OpenedOrError {
  readonly record: WorkspaceRecord;
  readonly name: string;
  readonly workspace: RunnerWorkspace | AppError;
  readonly mark: string;
}

const nothing: RemoteSurface = { mark: '', workspaces: new Map() };

/** An agent may have one workspace under two names. */
export function toWorkspaceKey(workspaceId: string, name: string): string {
  return `${workspaceId}/${name}`;
}

/** The server itself binds workspaces, because the caller may only have the right to call tools. */
function server(accountId: string): Actor {
  return { accountId, label: 'server', scopes: ['*'] };
}
