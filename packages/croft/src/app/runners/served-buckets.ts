import type { ObjectStore } from '../../core/objects.ts';
import { isInBucket } from '../../core/runners/home.ts';
import type { BucketWish } from '../../core/runners/offer.ts';
import { once } from '../../lib/once.ts';
import { sha256 } from '../../lib/sha256.ts';
import { keepToOwnKeys, namespaceOf } from '../../storages/index.ts';
import type { WorkspaceRecord } from '../places.ts';
import type { RunnerLink } from './runner-link.ts';
import { serveObjects } from './serve-objects.ts';
import { createOwned } from './serving.ts';

export interface ServedBucketsOptions {
  /** With the credentials that are for it, which never leave this machine. */
  openObjects(record: WorkspaceRecord): Promise<ObjectStore>;
}

interface Served {
  readonly accountId: string;
  readonly namespace: string;
  readonly mark: string;
  open(): Promise<ObjectStore>;
  /** What it was opened with counts no more: the next who needs it opens it anew. */
  reset(): void;
  /** Its id names nothing any more. */
  end(): void;
}

const maxOfLink = 10_000;

export type ServedBuckets = ReturnType<typeof createServedBuckets>;

/** The buckets of workspaces that runners have open: each link has its own, and of each no more than that workspace. */
export function createServedBuckets({ openObjects }: ServedBucketsOptions) {
  const all = new Set<Served>();
  const tables = new WeakMap<RunnerLink, ReturnType<typeof begin>>();

  return {
    /** For the runner at the other end of that link. Nothing for a workspace that is in none. */
    serve(link: RunnerLink, record: WorkspaceRecord): BucketWish | undefined {
      if (!isInBucket(record)) return undefined;
      const table = tables.get(link) ?? begin(link);
      tables.set(link, table);
      return table(record);
    },
    /** Secrets of the account are others. */
    reopen(accountId: string): void {
      for (const served of all) if (served.accountId === accountId) served.reset();
    },
    /** The workspace is no more: what a runner still has of it must not come back. */
    forget(namespace: string): void {
      for (const served of all) if (served.namespace === namespace) served.end();
    },
  };

  function begin(link: RunnerLink) {
    const owned = createOwned<Served>('bucket', maxOfLink);
    const known = new Map<string, { readonly id: string; readonly served: Served }>();
    link.peer.serve(serveObjects((id) => owned.get(id).open()));
    void link.peer.lost.then(() => {
      for (const { served } of known.values()) served.end();
    });

    return (record: WorkspaceRecord): BucketWish => {
      const namespace = namespaceOf(record.accountId, record.id);
      const { storage } = record.config;
      const mark = sha256(JSON.stringify([namespace, storage])).slice(0, 32);
      const onOutage = storage.onOutage === 'queue' ? 'queue' : 'refuse';
      const before = known.get(namespace);
      if (before?.served.mark === mark && all.has(before.served)) return { objects: before.id, mark, onOutage };
      before?.served.end();
      const served = toServed(record, namespace, mark, () => owned.delete(id));
      const id = owned.add(served);
      known.set(namespace, { id, served });
      return { objects: id, mark, onOutage };
    };
  }

  function toServed(record: WorkspaceRecord, namespace: string, mark: string, forgetId: () => void): Served {
    const opening = () => once(async () => keepToOwnKeys(await openObjects(record), namespace));
    let opened: Promise<ObjectStore> | undefined;
    let openOnce = opening();
    const served: Served = {
      ...{ accountId: record.accountId, namespace, mark },
      open() {
        opened = openOnce();
        return opened;
      },
      reset() {
        void opened?.then((objects) => objects.close()).catch(() => {});
        [opened, openOnce] = [undefined, opening()];
      },
      end() {
        forgetId();
        all.delete(served);
        served.reset();
      },
    };
    all.add(served);
    return served;
  }
}
