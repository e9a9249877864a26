import type { Sandbox } from '../core/commands/sandbox.ts';
import { createTransactions } from '../core/history/create-transactions.ts';
import type { Transactions } from '../core/history/transactions.ts';
import type { WorkingTree } from '../core/history/working-tree.ts';
import { createFollowedBases, type FollowedBases } from '../history/followed-bases.ts';
import { createForkPlaces, type ForkPlaces } from '../history/fork-places.ts';
import { createLayers, type Layers } from '../history/layers.ts';
import { once } from '../lib/once.ts';
import type { KeptForks } from '../storages/index.ts';
import type { Histories } from './histories.ts';

/** What the workspaces of a server are layered with. */
export interface Layered {
  readonly data: string;
  readonly histories: Histories;
  readonly layers: Layers;
  readonly places: ForkPlaces;
  readonly followed: FollowedBases;
  /** When what earlier servers left half made is gone. */
  readonly swept: Promise<unknown>;
}

export function createLayered(data: string, histories: Histories, onWarning: (message: string) => void): Layered {
  const layers = createLayers({ parent: `${data}/layers` });
  const places = createForkPlaces({ parent: `${data}/forks` });
  const warn = (thrown: unknown) => onWarning(`what an earlier server left cannot be taken away: ${thrown}`);
  const swept = Promise.all([layers.sweep().catch(warn), places.sweep().catch(warn)]);
  return { data, histories, layers, places, followed: createFollowedBases(), swept };
}

/** Forks among the workspaces that are kept in the data directory, by their namespaces. */
export function toKeptForks({ places }: Pick<Layered, 'places'>): KeptForks {
  return {
    ensure(namespace) {
      const record = places.find(namespace);
      if (record) places.ensure(record);
    },
    async remove(namespace) {
      const record = places.find(namespace);
      if (record) await places.remove(record);
    },
  };
}

export interface TransactionsPlace {
  tree(): Promise<WorkingTree>;
  /** An open handle of the workspace. */
  directory(): Promise<number>;
  /** Such as its commands run in, over another directory. */
  openSandbox(directory: number): Promise<Sandbox>;
}

/** Opened with the history that they need, on first use. */
export function openTransactions({ layers }: Pick<Layered, 'layers'>, place: TransactionsPlace): Transactions {
  const open = once(async () => {
    const [tree, lower] = [await place.tree(), await place.directory()];
    return createTransactions({
      tree,
      openSandbox: place.openSandbox,
      openLayer: (signal) => layers.open({ lower, store: tree.store, signal }),
      now: () => new Date(),
    });
  });
  return {
    begin: async (...call) => (await open()).begin(...call),
    commit: async (...call) => (await open()).commit(...call),
    discard: async (...call) => (await open()).discard(...call),
    list: async (...call) => (await open()).list(...call),
  };
}
