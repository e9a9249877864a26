import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import type { ObjectStore } from '../core/objects.ts';
import type { WorkspaceWish } from '../core/runners/offer.ts';
import { removeTree } from '../lib/remove-tree.ts';
import type { Histories } from './histories.ts';
import type { Place } from './places.ts';
import { createS3Place } from './s3-place.ts';

export interface OfferedBucketsOptions {
  /** Below which each has a directory of its own. */
  readonly root: string;
  readonly histories: Histories;
  readonly access: 'read-write' | 'read-only';
  onWarning(message: string): void;
}

/** What a server says of a workspace that is in a bucket. */
export type StoredWish = Pick<WorkspaceWish, 'namespace' | 'quota'> & {
  readonly bucket: NonNullable<WorkspaceWish['bucket']>;
};

interface Known {
  readonly place: Place;
  readonly objects: ReturnType<typeof createSwitch>;
  wish: StoredWish;
}

export type OfferedBuckets = ReturnType<typeof createOfferedBuckets>;

/**
 * Workspaces that are in buckets, each with a working tree on this machine, which outlives the links over which its bucket
 * is reached: without one it is as when a bucket does not answer, and what waits is stored when the next one is there.
 */
export function createOfferedBuckets({ root, histories, access, onWarning }: OfferedBucketsOptions) {
  const opened = new Map<string, Known>();
  const directoryOf = (namespace: string) => join(root, 'mounts', namespace);

  function make(first: StoredWish): Known {
    const { namespace } = first;
    const directory = directoryOf(namespace);
    const objects = createSwitch();
    const place = createS3Place({
      ...{ namespace, directory, histories, access, onWarning },
      get quota() {
        return known.wish.quota;
      },
      get onOutage() {
        return known.wish.bucket.onOutage;
      },
      openObjects: async () => objects,
      onProgress() {},
      removeDirectory: () => removeTree(directory),
    });
    const known: Known = { place, objects, wish: first };
    return known;
  }

  return {
    directoryOf,
    /** Its files, as this machine sees them. */
    filesOf: (namespace: string): string => join(directoryOf(namespace), 'files'),
    /** From now on it is asked of `objects` what is in its bucket. */
    async open(wish: StoredWish, objects: ObjectStore): Promise<Place> {
      const known = opened.get(wish.namespace) ?? make(wish);
      opened.set(wish.namespace, known);
      const isOther = settingOf(known.wish) !== settingOf(wish);
      known.wish = wish;
      known.objects.use(objects);
      if (isOther) await known.place.close({ isRemoved: false });
      return known.place;
    },
    /** The working tree, with what is kept beside it. */
    async remove(namespace: string): Promise<void> {
      const known = opened.get(namespace);
      opened.delete(namespace);
      // What it could not store is not wanted any more.
      await known?.place.close({ isRemoved: false }).catch(() => {});
      await removeTree(directoryOf(namespace));
    },
    async close(): Promise<void> {
      await Promise.all([...opened.values()].map(({ place }) => place.close({ isRemoved: false })));
    },
  };
}

/** Another one, and it has to be opened anew. */
function settingOf({ bucket: { mark, onOutage }, quota }: StoredWish): string {
  return JSON.stringify([mark, onOutage, quota]);
}

/** One bucket, by whichever link there is to it. */
function createSwitch(): ObjectStore & { use(objects: ObjectStore): void } {
  let current: ObjectStore | undefined;
  const now = (): ObjectStore => {
    if (current) return current;
    throw new AppError('E_STORAGE_UNAVAILABLE', 'no server has been there yet to ask for what is in the bucket');
  };
  return {
    get: async (...call) => now().get(...call),
    head: async (...call) => now().head(...call),
    put: async (...call) => now().put(...call),
    remove: async (...call) => now().remove(...call),
    copy: async (...call) => now().copy(...call),
    list: (...call) => now().list(...call),
    probe: async (...call) => now().probe(...call),
    close() {},
    use(objects) {
      current = objects;
    },
  };
}
