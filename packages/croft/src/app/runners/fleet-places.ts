import { AppError } from '@croft/protocol';
import { notConnected } from '../../core/runners/home.ts';
import type { OfferedWorkspace, WorkspaceWish } from '../../core/runners/offer.ts';
import { unavailable } from '../../core/runners/placement.ts';
import type { Fleet } from './fleet.ts';
import type { RunnerLink } from './runner-link.ts';

export interface FleetPlacesOptions {
  readonly fleet: Pick<Fleet, 'linkOf'>;
  /** A workspace of the machine at the other end. */
  openWorkspace(link: RunnerLink, wish: WorkspaceWish): Promise<OfferedWorkspace>;
}

export type FleetPlaces = ReturnType<typeof createFleetPlaces>;

/** The workspaces that are on runners, each opened once for a link, whoever asks. */
export function createFleetPlaces({ fleet, openWorkspace }: FleetPlacesOptions) {
  const opened = new WeakMap<RunnerLink, Map<string, Promise<OfferedWorkspace>>>();

  return {
    /** Throws `E_SANDBOX_UNAVAILABLE`. */
    async open(accountId: string, runner: string, wish: WorkspaceWish): Promise<OfferedWorkspace> {
      const link = fleet.linkOf(accountId, runner);
      if (!link) throw notConnected(runner);
      const places = opened.get(link) ?? new Map<string, Promise<OfferedWorkspace>>();
      opened.set(link, places);
      const key = JSON.stringify([wish.namespace, wish.name]);
      const opening = places.get(key) ?? openWorkspace(link, wish);
      places.set(key, opening);
      try {
        return await opening;
      } catch (thrown) {
        places.delete(key);
        throw refuse(runner, AppError.from(thrown));
      }
    },
    /** Another one whenever the machine is another, or gone: nothing that was open on it is any more. */
    markOf: (accountId: string, runner: string): string => fleet.linkOf(accountId, runner)?.id ?? 'offline',
  };
}

/** A machine that does not offer a workspace is as good as none. */
function refuse(runner: string, error: AppError): AppError {
  if (error.code !== 'E_NOT_FOUND') return error;
  return unavailable(`the runner ${runner} does not offer this workspace`, { runner });
}
