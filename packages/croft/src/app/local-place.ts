import { keepHistory } from '../core/history/around.ts';
import type { WorkspaceQuota } from '../core/storage.ts';
import { realpathOf } from '../lib/workspace-owner.ts';
import type { KeptWorkspaces } from '../storages/index.ts';
import type { Histories } from './histories.ts';
import { holdToQuota } from './local-quota.ts';
import type { Place } from './places.ts';

export interface LocalPlaceMeans {
  readonly kept: KeptWorkspaces;
  readonly histories: Histories;
  readonly quota?: WorkspaceQuota | undefined;
  /** What is kept of a workspace that is no more. */
  removeHistory(place: string): Promise<void>;
}

/** A workspace in the data directory. */
export function createLocalPlace(namespace: string, means: LocalPlaceMeans): Place {
  const { kept, histories, removeHistory, quota } = means;
  const open = (name: string) => kept.open(namespace, name);
  const mount = open(namespace);
  const { handle, mustBeThere } = mount;
  const tree = () => histories.treeOf(handle);
  /** Without a quota there is nothing to look at. */
  const within: Place['around'] = quota ? holdToQuota({ mount, quota, tree }) : (_, work) => work();
  const history = histories.of(handle);
  return {
    key: realpathOf(handle),
    named: open,
    directory: async () => handle,
    mustBeThere,
    tree,
    history,
    around: history ? keepHistory(history, within) : within,
    watch: (onChange, signal) => histories.watch(handle, onChange, signal),
    async close({ isRemoved }) {
      const history = histories.placeOf(handle);
      await histories.forget(handle);
      if (isRemoved) await removeHistory(history);
    },
  };
}
