import { AppError, runnerForks, runnerRemoves, runnerStores } from '@croft/protocol';
import { isInBucket, notConnected } from '../../core/runners/home.ts';
import type { OfferedForks, OfferedWorkspace, WorkspaceWish } from '../../core/runners/offer.ts';
import { unavailable } from '../../core/runners/placement.ts';
import type { Peer } from '../../link/peer.ts';
import { namespaceOf } from '../../storages/index.ts';
import type { WorkspaceRecord } from '../places.ts';
import type { Fleet } from './fleet.ts';
import type { RunnerLink } from './runner-link.ts';
import type { ServedBuckets } from './served-buckets.ts';

export interface FleetPlacesOptions {
  readonly fleet: Pick<Fleet, 'linkOf'>;
  /** Those of workspaces that are in one. */
  readonly buckets: Pick<ServedBuckets, 'serve'>;
  /** A workspace of the machine at the other end. */
  openWorkspace(peer: Peer, wish: WorkspaceWish): Promise<OfferedWorkspace>;
  removeWorkspace(peer: Peer, namespace: string): Promise<boolean>;
}

export type FleetPlaces = ReturnType<typeof createFleetPlaces>;

/** The workspaces that are on runners, each opened once for a link, whoever asks. */
export function createFleetPlaces({ fleet, buckets, openWorkspace, removeWorkspace }: FleetPlacesOptions) {
  const opened = new WeakMap<RunnerLink, Map<string, Promise<OfferedWorkspace>>>();

  /** `name` is what the agent calls it. Throws `E_SANDBOX_UNAVAILABLE`. */
  async function open(record: WorkspaceRecord, runner: string, name: string): Promise<OfferedWorkspace> {
    const link = fleet.linkOf(record.accountId, runner);
    if (!link) throw notConnected(runner);
    mustKnowHow(link, runner, record);
    const places = opened.get(link) ?? new Map<string, Promise<OfferedWorkspace>>();
    opened.set(link, places);
    const wish = { ...toWish(record, name), bucket: buckets.serve(link, record) };
    const key = JSON.stringify(wish);
    const opening = places.get(key) ?? openWorkspace(link.peer, wish);
    places.set(key, opening);
    try {
      return await opening;
    } catch (thrown) {
      places.delete(key);
      throw refuse(runner, AppError.from(thrown));
    }
  }

  return {
    open,
    /** Throws `E_SANDBOX_UNAVAILABLE` where the machine is not there or makes none. */
    async openForks(record: WorkspaceRecord, runner: string): Promise<OfferedForks> {
      const link = fleet.linkOf(record.accountId, runner);
      if (link && !link.capabilities.includes(runnerForks))
        throw unavailable(`the runner ${runner} is of an older release, which makes no forks: update it`, { runner });
      const { forks } = await open(record, runner, record.id);
      if (!forks) throw unavailable(`the runner ${runner} makes no forks of this workspace`, { runner });
      return forks;
    },
    /** Answers whether there were files of it. Throws where they cannot be taken away, or not now. */
    async remove({ accountId, id }: Pick<WorkspaceRecord, 'accountId' | 'id'>, runner: string): Promise<boolean> {
      const link = fleet.linkOf(accountId, runner);
      if (link?.state() !== 'online') throw notConnected(runner);
      if (!link.capabilities.includes(runnerRemoves))
        throw unavailable(`the runner ${runner} is of an older release, which removes nothing: update it`, { runner });
      const namespace = namespaceOf(accountId, id);
      for (const key of opened.get(link)?.keys() ?? []) if (key.includes(namespace)) opened.get(link)?.delete(key);
      return removeWorkspace(link.peer, namespace);
    },
    /** Another one whenever the machine is another, or gone: nothing that was open on it is any more. */
    markOf: (accountId: string, runner: string): string => fleet.linkOf(accountId, runner)?.id ?? 'offline',
  };
}

function toWish({ accountId, id, name: workspace, config }: WorkspaceRecord, name: string): WorkspaceWish {
  return { namespace: namespaceOf(accountId, id), workspace, name, quota: config.quota };
}

/** One that does not would keep its files to itself, or more of them than it may. */
function mustKnowHow({ capabilities }: RunnerLink, runner: string, record: WorkspaceRecord): void {
  const isStored = isInBucket(record) || record.config.quota !== undefined;
  if (!isStored || capabilities.includes(runnerStores)) return;
  const what = isInBucket(record) ? 'does not open what is in a bucket' : 'holds no workspace to a quota';
  throw unavailable(`the runner ${runner} is of an older release, which ${what}: update it`, { runner });
}

/** A machine that does not offer a workspace is as good as none. */
function refuse(runner: string, error: AppError): AppError {
  if (error.code !== 'E_NOT_FOUND') return error;
  return unavailable(`the runner ${runner} does not offer this workspace`, { runner });
}
