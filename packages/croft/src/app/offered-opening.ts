import { AppError } from '@croft/protocol';
import type { Mount } from '../core/mount.ts';
import type { ObjectStore } from '../core/objects.ts';
import type { OfferedWorkspace, WorkspaceWish } from '../core/runners/offer.ts';
import { asReadOnly } from '../core/runners/read-only.ts';
import type { KeyedLock } from '../lib/keyed-lock.ts';
import type { KeptWorkspaces } from '../storages/index.ts';
import type { OfferedBuckets, StoredWish } from './offered-buckets.ts';
import { openOfferedForks } from './offered-forks.ts';
import { type OfferedPlace, type OfferMeans, toLocalPlace, toOffered } from './offered-workspace.ts';

const namespacePattern = /^fs-[0-9a-f]{40}$/;

export interface OfferedPlaces {
  readonly named: ReadonlyMap<string, Mount>;
  /** Left out: none is made. */
  readonly kept?: KeptWorkspaces | undefined;
  readonly buckets?: OfferedBuckets | undefined;
  /** By namespace: what is being made is not removed. */
  readonly lock: KeyedLock;
}

/** How what a machine has is opened for whoever asks. */
export function createOpening({ named, kept, buckets, lock }: OfferedPlaces, means: OfferMeans) {
  const { provider, policy, histories, layered } = means;
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

  async function open(wish: WorkspaceWish, openObjects?: (id: string) => ObjectStore): Promise<OfferedWorkspace> {
    const { bucket } = wish;
    if (bucket && !openObjects)
      throw new AppError('E_NOT_FOUND', 'there is no link here to ask for what is in a bucket');
    const offered =
      bucket && openObjects
        ? toOffered(await openStored({ ...wish, bucket }, openObjects(bucket.objects)), means)
        : withForks(openLocal(wish), wish);
    return policy.isReadOnly ? asReadOnly(offered) : offered;
  }

  function withForks(place: OfferedPlace, wish: WorkspaceWish): OfferedWorkspace {
    const { tree, directory, history } = place;
    const offered = toOffered(place, means);
    if (!history) return offered;
    const forks = openOfferedForks({ tree, directory, history }, wish, { layered, histories, named, kept, lock });
    return { ...offered, forks };
  }

  return {
    open,
    /** Its handle is about to mean nothing, and then something else. */
    forget(handle: number): void {
      for (const key of local.keys()) if (key.startsWith(`[${handle},`)) local.delete(key);
    },
  };
}

/** Only where workspaces are made, and only such as a server names so. */
function mustMake<T>(makes: T | undefined, namespace: string): T {
  if (makes === undefined)
    throw new AppError('E_NOT_FOUND', 'this runner does not have that workspace, and makes no new ones');
  mustBeNamespace(namespace);
  return makes;
}

/** It becomes the name of a directory. */
export function mustBeNamespace(namespace: string): void {
  if (!namespacePattern.test(namespace)) throw new AppError('E_INVALID_INPUT', 'that is not the name of a workspace');
}
