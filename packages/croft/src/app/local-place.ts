import { keepHistory } from '../core/history/around.ts';
import { realpathOf } from '../lib/workspace-owner.ts';
import type { KeptWorkspaces } from '../storages/index.ts';
import type { Histories } from './histories.ts';
import type { Place } from './places.ts';

export interface LocalPlaceMeans {
  readonly kept: KeptWorkspaces;
  readonly histories: Histories;
  /** What is kept of a workspace that is no more. */
  removeHistory(place: string): Promise<void>;
}

/** A workspace in the data directory. */
export function createLocalPlace(namespace: string, { kept, histories, removeHistory }: LocalPlaceMeans): Place {
  const open = (name: string) => kept.open(namespace, name);
  const { handle, mustBeThere } = open(namespace);
  const history = histories.of(handle);
  return {
    key: realpathOf(handle),
    named: open,
    directory: async () => handle,
    mustBeThere,
    tree: () => histories.treeOf(handle),
    history,
    around: history ? keepHistory(history) : (_, work) => work(),
    watch: (onChange, signal) => histories.watch(handle, onChange, signal),
    async close({ isRemoved }) {
      const history = histories.placeOf(handle);
      await histories.forget(handle);
      if (isRemoved) await removeHistory(history);
    },
  };
}
