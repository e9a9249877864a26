import { AppError } from '@croft/protocol';
import type { Mount } from '../core/mount.ts';
import { refuseChange } from '../core/runners/read-only.ts';
import { removeTree } from '../lib/remove-tree.ts';
import { realpathOr } from '../lib/workspace-owner.ts';
import type { KeptWorkspaces } from '../storages/index.ts';
import type { Histories } from './histories.ts';
import type { OfferedBuckets } from './offered-buckets.ts';
import { mustBeNamespace } from './offered-opening.ts';

export interface OfferedRemovalMeans {
  /** Those of the operator, which nobody else takes away. */
  readonly named: ReadonlyMap<string, Mount>;
  /** Where workspaces are made. Left out: none is. */
  readonly made?: { readonly kept: KeptWorkspaces; readonly buckets: OfferedBuckets } | undefined;
  readonly histories: Histories;
  readonly isReadOnly: boolean;
  /** Its handle is about to mean nothing. */
  forget(handle: number): void;
}

/** Takes away what a machine made for a workspace below its root, with what that was. */
export function createOfferedRemoval({ named, made, histories, isReadOnly, forget }: OfferedRemovalMeans) {
  return async (namespace: string): Promise<boolean> => {
    mustBeNamespace(namespace);
    if (isReadOnly) return refuseChange();
    if (!made) return false;
    const { kept, buckets } = made;
    for (const place of [kept, buckets]) mustBeMade(place.directoryOf(namespace));
    await buckets.remove(namespace);
    const mount = kept.find(namespace);
    if (!mount) return false;
    const history = histories.placeOf(mount.handle);
    forget(mount.handle);
    await histories.forget(mount.handle);
    await removeTree(history);
    return kept.remove(namespace);
  };

  /** Whoever names a directory has it for themselves from then on, though it was once made here. */
  function mustBeMade(directory: string): void {
    const own = `${realpathOr(directory)}/`;
    if ([...named.values()].some(({ directory: given }) => `${given}/`.startsWith(own)))
      throw new AppError('E_FORBIDDEN', 'the operator of this runner gave that directory by name: it is not removed');
  }
}
