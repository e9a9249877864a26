import { AppError } from '@croft/protocol';
import type { AttachedWorkspace, Surface } from '../../core/accounts/cascade.ts';
import type { Actor, Collection, WorkspaceConfig } from '../../core/accounts/registry.ts';
import { isHomeless, isOnRunner, mustBeMovable, mustHaveHome } from '../../core/runners/home.ts';
import type { OfferedWorkspace } from '../../core/runners/offer.ts';
import { chooseRunner } from '../../core/runners/placement.ts';
import type { WorkspaceRecord } from '../places.ts';
import { createChoices } from './choices.ts';
import type { Fleet } from './fleet.ts';
import type { FleetPlaces } from './fleet-places.ts';

/** What of an agent is on runners: by workspace, what the runner offers or why it cannot be had. */
export interface RemoteSurface {
  readonly mark: string;
  readonly places: ReadonlyMap<string, OfferedWorkspace | AppError>;
}

export interface RemoteSurfacesOptions {
  readonly fleet: Pick<Fleet, 'candidates'>;
  readonly places: FleetPlaces;
  readonly workspaces: Pick<Collection<WorkspaceConfig>, 'patch'>;
  /** Whether this server has files of a workspace, which no runner would see. */
  hasFiles(record: WorkspaceRecord): boolean;
}

export type RemoteSurfaces = ReturnType<typeof createRemoteSurfaces>;

/** Which machine each workspace of an agent is on. Decided when it is first used, and where its files are there, for good. */
export function createRemoteSurfaces({ fleet, places, workspaces, hasFiles }: RemoteSurfacesOptions) {
  const choices = createChoices();
  return {
    /** Binds what is bound to no machine yet. Answers whether a record was changed by it. */
    async settle({ workspaces: attached }: Surface): Promise<boolean> {
      const unbound = attached.filter((one) => isOnRunner(one) && one.record.config.home === undefined);
      const bound = await Promise.all(unbound.filter((one) => !isHomeless(one)).map(bind));
      return bound.some(Boolean);
    },

    async enter({ workspaces: attached }: Surface): Promise<RemoteSurface> {
      const own = attached.filter(isOnRunner);
      if (own.length === 0) return nothing;
      const opened = await Promise.all(own.map(openOrSay));
      return {
        mark: JSON.stringify(opened.map(({ record, mark }) => [record.id, mark])),
        places: new Map(opened.map(({ record, name, place }) => [toKey(record.id, name), place])),
      };
    },
  };

  async function bind(attached: AttachedWorkspace): Promise<boolean> {
    const { record, sandbox } = attached;
    try {
      mustBeMovable(attached, hasFiles(record));
      const home = chooseRunner(fleet.candidates(record.accountId), sandbox?.config ?? {});
      // Nobody is bound to a machine that is not there.
      if (places.markOf(record.accountId, home) === 'offline') return false;
      await workspaces.patch(server(record.accountId), record.id, { config: { home } }, { version: record.version });
      return true;
    } catch {
      // Nothing fits, or another call was faster: entering tells which.
      return false;
    }
  }

  async function openOrSay(attached: AttachedWorkspace): Promise<Opened> {
    const { record, name } = attached;
    try {
      mustBeMovable(attached, record.config.home === undefined && hasFiles(record));
      const runner = machineOf(attached);
      const place = await places.open(record, runner, name);
      return { record, name, place, mark: places.markOf(record.accountId, runner) };
    } catch (thrown) {
      const place = AppError.from(thrown);
      return { record, name, place, mark: place.message };
    }
  }

  function machineOf(attached: AttachedWorkspace): string {
    const candidates = fleet.candidates(attached.record.accountId);
    return isHomeless(attached) ? choices.of(attached, candidates) : mustHaveHome(attached, candidates);
  }
}

interface Opened {
  readonly record: WorkspaceRecord;
  readonly name: string;
  readonly place: OfferedWorkspace | AppError;
  readonly mark: string;
}

const nothing: RemoteSurface = { mark: '', places: new Map() };

/** An agent may have one workspace under two names. */
export function toKey(workspaceId: string, name: string): string {
  return `${workspaceId}/${name}`;
}

/** Binding is the server's to do: whoever calls may perhaps only call. */
function server(accountId: string): Actor {
  return { accountId, label: 'server', scopes: ['*'] };
}
