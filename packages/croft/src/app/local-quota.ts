import type { WorkingTree } from '../core/history/working-tree.ts';
import type { Mount } from '../core/mount.ts';
import type { WorkspaceQuota } from '../core/storage.ts';
import { once } from '../lib/once.ts';
import { openLocalMount } from '../storages/index.ts';
import type { Place } from './places.ts';

export interface QuotaMeans {
  readonly mount: Mount;
  readonly quota: WorkspaceQuota;
  tree(): Promise<WorkingTree>;
}

/** Around calls that change a workspace which is a directory: what is too much is not acknowledged. */
export function holdToQuota({ mount, quota, tree }: QuotaMeans): Place['around'] {
  const openMount = once(async () => openLocalMount({ mount, quota, tree: await tree() }));
  return async (call, work) => {
    if (call.access === 'read') return work();
    const { commit } = await openMount();
    const result = await work();
    await commit(call.signal);
    return result;
  };
}
