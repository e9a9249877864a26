import { AppError } from '@croft/protocol';
import type { Mount } from '../core/mount.ts';
import { refuseChange } from '../core/runners/read-only.ts';
import type { KeyedLock } from '../lib/keyed-lock.ts';
import { removeTree } from '../lib/remove-tree.ts';
import { realpathOr } from '../lib/workspace-owner.ts';
import type { KeptWorkspaces } from '../storages/index.ts';
import type { Histories } from './histories.ts';
import type { Layered } from './layered.ts';
import { dropBases, parentOf } from './local-forks.ts';
import type { OfferedBuckets } from './offered-buckets.ts';
import { mustBeNamespace } from './offered-opening.ts';

interface Made {
  readonly kept: KeptWorkspaces;
  readonly buckets: OfferedBuckets;
}

export interface OfferedRemovalMeans {
  /** Those of the operator, which nobody else takes away. */
  readonly named: ReadonlyMap<string, Mount>;
  /** Where workspaces are made. Left out: none is. */
  readonly made?: Made | undefined;
  readonly histories: Histories;
  readonly layered: Layered;
  readonly isReadOnly: boolean;
  /** By namespace: a fork that is being made is removed when it is. */
  readonly lock: KeyedLock;
  /** Its handle is about to mean nothing. */
  forget(handle: number): void;
}

/** Takes away what a machine made for a workspace below its root, with what that was. */
export function createOfferedRemoval(means: OfferedRemovalMeans) {
  const { named, made, histories, layered, isReadOnly, lock, forget } = means;

  return async (namespace: string): Promise<boolean> => {
    mustBeNamespace(namespace);
    if (isReadOnly) return refuseChange();
    return made ? lock.run(namespace, () => remove(namespace, made)) : false;
  };

  async function remove(namespace: string, { kept, buckets }: Made): Promise<boolean> {
    // It may be the very fork that is being swept, of which two would take away what the other counts on.
    await layered.swept;
    for (const place of [kept, buckets]) mustBeMade(place.directoryOf(namespace));
    await buckets.remove(namespace);
    const mount = kept.find(namespace);
    if (mount) await forgetHistory(mount.handle);
    const parent = parentOf(layered, namespace);
    const isRemoved = mount !== undefined && (await kept.remove(namespace));
    await dropBases(layered, namespace);
    // The last that showed them: what it was a fork of is gone, or nobody has it open.
    if (parent !== undefined && !layered.followed.has(parent)) await dropBases(layered, parent);
    return isRemoved;
  }

  async function forgetHistory(handle: number): Promise<void> {
    const history = histories.placeOf(handle);
    forget(handle);
    await histories.forget(handle);
    await removeTree(history);
  }

  /** Whoever names a directory has it for themselves from then on, though it was once made here. */
  function mustBeMade(directory: string): void {
    const own = `${realpathOr(directory)}/`;
    if ([...named.values()].some(({ directory: given }) => `${given}/`.startsWith(own)))
      throw new AppError('E_FORBIDDEN', 'the operator of this runner gave that directory by name: it is not removed');
  }
}
