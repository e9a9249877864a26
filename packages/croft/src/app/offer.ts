import { AppError } from '@croft/protocol';
import type { HostOptions, SandboxOptions } from '../app.ts';
import type { Mount } from '../core/mount.ts';
import type { ObjectStore } from '../core/objects.ts';
import type { Offer, OfferedWorkspace, WorkspaceWish } from '../core/runners/offer.ts';
import { asReadOnly } from '../core/runners/read-only.ts';
import type { Peer } from '../link/peer.ts';
import { createLinkObjects } from '../providers/index.ts';
import { createKeptWorkspaces, type KeptWorkspaces, openMounts, type WorkspaceSource } from '../storages/index.ts';
import { createHistories } from './histories.ts';
import { createLayered, toKeptForks } from './layered.ts';
import { createOfferedBuckets, type OfferedBuckets, type StoredWish } from './offered-buckets.ts';
import { type OfferedPlace, type OfferMeans, toLocalPlace, toOffered } from './offered-workspace.ts';
import { openProvider } from './open-provider.ts';
import { createSandboxRoom } from './runners/sandbox-room.ts';
import { createSearches } from './searches.ts';
import { tryOut } from './try-out.ts';

export interface OfferOptions {
  /** Directories of this machine, each by the name that the account has for the workspace. */
  readonly workspaces: readonly WorkspaceSource[];
  /** Where workspaces are made that are none of those. Left out: there are none. */
  readonly root?: string | undefined;
  /** Where histories and layers are kept. */
  readonly data: string;
  /** What of this machine sandboxes get at most, whatever a server asks. */
  readonly sandbox: SandboxOptions;
  readonly host: HostOptions;
  readonly isReadOnly: boolean;
  /** Sandboxes at once, of all links together. Left out: as many as the machine bears. */
  readonly capacity?: number | undefined;
  onWarning(message: string): void;
}

const namespacePattern = /^fs-[0-9a-f]{40}$/;

/** What a machine offers to a server, with the very parts that a server uses itself. */
export function createOffer(options: OfferOptions) {
  const { workspaces, root, data, sandbox, isReadOnly, onWarning } = options;
  const histories = createHistories({ data, onWarning });
  const layered = createLayered(data, histories, onWarning);
  const searches = createSearches();
  const room = createSandboxRoom(options.capacity);
  const access = isReadOnly ? 'read-only' : 'read-write';
  const kept = root === undefined ? undefined : createKeptWorkspaces(root, toKeptForks(layered));
  const buckets = root === undefined ? undefined : createOfferedBuckets({ root, histories, access, onWarning });
  const provider = openProvider(options);
  const open = createOpening(
    { named: openNamed(options), kept, buckets },
    {
      ...{ provider, policy: { ...sandbox, isReadOnly }, readable: sandbox.readable },
      ...{ searches, histories, layered, counted: room.counted },
    },
  );
  return {
    open: (wish: WorkspaceWish) => open(wish),
    /** The same over a link, by which buckets are reached. */
    on: (peer: Peer): Offer => ({ open: (wish) => open(wish, (id) => createLinkObjects(peer, id)) }),
    names: workspaces.map(({ name, path }) => name ?? path),
    /** Throws `E_SANDBOX_UNAVAILABLE` where the machine cannot do what it offers. */
    tryOut: () => tryOut(provider, data, sandbox.limits),
    /** Sandboxes that are open. */
    load: room.taken,
    async [Symbol.asyncDispose]() {
      await searches.close();
      await buckets?.close();
      await histories.close();
      kept?.close();
    },
  };
}

interface OfferedPlaces {
  readonly named: ReadonlyMap<string, Mount>;
  /** Left out: none is made. */
  readonly kept?: KeptWorkspaces | undefined;
  readonly buckets?: OfferedBuckets | undefined;
}

function createOpening({ named, kept, buckets }: OfferedPlaces, means: OfferMeans) {
  const { provider, policy, histories } = means;
  const hasFence = provider.name !== 'none';
  /** What a quota counts from is the same for all who have the workspace. */
  const local = new Map<string, OfferedPlace>();

  function openLocal({ namespace, workspace, name, quota }: WorkspaceWish): OfferedPlace {
    const mount = named.get(workspace) ?? mustMake(kept, namespace).open(namespace, name);
    const key = JSON.stringify([mount.handle, quota]);
    const place = local.get(key) ?? toLocalPlace(mount, quota, histories);
    if (quota) local.set(key, place);
    return { ...place, files: mount.files, root: hasFence ? mount.root : mount.directory };
  }

  async function openStored(wish: WorkspaceWish & StoredWish, objects: ObjectStore): Promise<OfferedPlace> {
    const stored = mustMake(buckets, wish.namespace);
    const place = await stored.open(wish, objects);
    const { root, files } = place.named(wish.name);
    return { ...place, files, root: hasFence ? root : stored.filesOf(wish.namespace) };
  }

  return async (wish: WorkspaceWish, openObjects?: (id: string) => ObjectStore): Promise<OfferedWorkspace> => {
    const { bucket } = wish;
    if (bucket && !openObjects)
      throw new AppError('E_NOT_FOUND', 'there is no link here to ask for what is in a bucket');
    const place =
      bucket && openObjects ? await openStored({ ...wish, bucket }, openObjects(bucket.objects)) : openLocal(wish);
    const offered = toOffered(place, means);
    return policy.isReadOnly ? asReadOnly(offered) : offered;
  };
}

/** The model sees them where a sandbox has them; without a fence there is no other name than their own. */
function openNamed({ workspaces, sandbox }: OfferOptions): ReadonlyMap<string, Mount> {
  if (workspaces.length === 0) return new Map();
  const sources = workspaces.map((source) =>
    sandbox.provider === 'none' ? source : { ...source, root: `/workspaces/${source.name}` },
  );
  return new Map(openMounts(sources).map((mount) => [mount.name, mount]));
}

/** Only where workspaces are made, and only such as a server names so. */
function mustMake<T>(makes: T | undefined, namespace: string): T {
  if (makes === undefined)
    throw new AppError('E_NOT_FOUND', 'this runner does not have that workspace, and makes no new ones');
  if (!namespacePattern.test(namespace)) throw new AppError('E_INVALID_INPUT', 'that is not the name of a workspace');
  return makes;
}
