import { isInBucket } from '../../core/accounts/surface/workspace-location.ts';
import type { BucketRequest } from '../../core/runner-workspaces/runner-workspace.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import { once } from '../../lib/concurrency/once.ts';
import { sha256 } from '../../lib/crypto/sha256.ts';
import { namespaceOf, restrictToWorkspace } from '../../storages/index.ts';
import type { WorkspaceRecord } from '../workspaces/opened-workspaces.ts';
import { createHandleTable } from './handle-table.ts';
import type { RunnerLink } from './runner-link.ts';
import { serveObjects } from './serve-objects.ts';

interface ServedBucketsOptions {
  /** Opens the bucket with its credentials, which never leave this machine. */
  openObjects(record: WorkspaceRecord): Promise<ObjectStore>;
}

interface Served {
  readonly accountId: string;
  readonly namespace: string;
  readonly mark: string;
  open(): Promise<ObjectStore>;
  /** Closes the bucket because its settings changed. The next use opens it again. */
  reset(): void;
  /** Ends the bucket: its id is invalid from now on. */
  end(): void;
}

const maxOfLink = 10_000;

export type ServedBuckets = ReturnType<typeof createServedBuckets>;

/**
 * Buckets of workspaces that runners have open. Each link has ids of its own, and each id gives access to the keys of
 * one workspace only.
 */
export function createServedBuckets({ openObjects }: ServedBucketsOptions) {
  const all = new Set<Served>();
  const tables = new WeakMap<RunnerLink, ReturnType<typeof begin>>();

  return {
    /**
     * Serves the workspace's bucket to the runner of that link. Returns nothing for a workspace that is not in a
     * bucket.
     */
    serve(link: RunnerLink, record: WorkspaceRecord): BucketRequest | undefined {
      if (!isInBucket(record)) return undefined;
      const table = tables.get(link) ?? begin(link);
      tables.set(link, table);
      return table(record);
    },
    /** Call it when secrets of the account changed. */
    reopen(accountId: string): void {
      for (const served of all) if (served.accountId === accountId) served.reset();
    },
    /** Call it when the workspace is removed: a runner must not store its copy again. */
    forget(namespace: string): void {
      for (const served of all) if (served.namespace === namespace) served.end();
    },
  };

  function begin(link: RunnerLink) {
    const owned = createHandleTable<Served>('bucket', maxOfLink);
    const known = new Map<string, { readonly id: string; readonly served: Served }>();
    link.peer.serve(serveObjects((id) => owned.get(id).open()));
    void link.peer.lost.then(() => {
      for (const { served } of known.values()) served.end();
    });

    return (record: WorkspaceRecord): BucketRequest => {
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
    const opening = () => once(async () => restrictToWorkspace(await openObjects(record), namespace));
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
