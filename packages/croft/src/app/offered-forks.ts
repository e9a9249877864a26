import { AppError } from '@croft/protocol';
import { taken } from '../core/history/create-forks.ts';
import type { Fork, Forks } from '../core/history/forks.ts';
import type { History } from '../core/history/history.ts';
import type { Mount } from '../core/mount.ts';
import type { ForkWish, OfferedFork, OfferedForks, WorkspaceWish } from '../core/runners/offer.ts';
import type { KeyedLock } from '../lib/keyed-lock.ts';
import type { KeptWorkspaces } from '../storages/index.ts';
import type { Histories } from './histories.ts';
import type { Layered } from './layered.ts';
import { type ForkHome, openForks } from './local-forks.ts';
import type { OfferedPlace } from './offered-workspace.ts';

export interface OfferedForksMeans {
  readonly layered: Layered;
  readonly histories: Histories;
  /** Those of the operator. */
  readonly named: ReadonlyMap<string, Mount>;
  /** Where forks are made. Left out: nowhere. */
  readonly kept?: KeptWorkspaces | undefined;
  /** By namespace: nothing is removed while it is made. */
  readonly lock: KeyedLock;
}

type ForkedOffer = Pick<OfferedPlace, 'tree' | 'directory'> & { readonly history: History };

/** Forks of a workspace of this machine: made below its root, whatever it is a fork of. */
export function openOfferedForks(
  place: ForkedOffer,
  { namespace: key, workspace: name }: WorkspaceWish,
  means: OfferedForksMeans,
): OfferedForks {
  const { layered, named, lock } = means;
  /** Those that are being made, by their names. */
  const wanted = new Map<string, ForkWish>();
  const { tree, directory, history } = place;
  const forks = openForks(layered, { tree, directory, history, key, name, home: createHome(wanted, means) });

  async function make(wish: ForkWish, signal: AbortSignal): Promise<OfferedFork> {
    const { name: called, snapshot } = wish;
    mustHaveRoot(means);
    // A server finds directories by their names, and would take that one for the fork.
    if (wanted.has(called) || named.has(called)) throw taken(called);
    wanted.set(called, wish);
    try {
      return show(await forks.fork({ name: called, snapshot, session: '', signal }));
    } finally {
      wanted.delete(called);
    }
  }

  return {
    fork: (wish, signal) => lock.run(wish.namespace, () => make(wish, signal)),
    list: async () => (await forks.list()).map(show),
    merge: forks.merge,
    forget: (called) => forget(called, forks, place),
  };
}

/** Who has them is not known here: they are there, or not. */
function createHome(wanted: ReadonlyMap<string, ForkWish>, means: OfferedForksMeans): ForkHome {
  const { histories } = means;
  return {
    async newSite(name) {
      const wish = wanted.get(name);
      if (!wish) throw new AppError('E_NOT_FOUND', 'nobody asked for that fork');
      const { namespace: id, workspaceId } = wish;
      return { id, workspaceId, target: mustHaveRoot(means).siteOf(id) };
    },
    async opened() {},
    openTree: async ({ id }) => histories.treeOf(mustHaveRoot(means).open(id, id).handle),
    async remove({ id }) {
      await mustHaveRoot(means).remove(id);
    },
  };
}

/** One that is still there may be merged, with what it started as. */
async function forget(name: string, forks: Pick<Forks, 'list'>, { tree }: ForkedOffer): Promise<void> {
  if ((await forks.list()).some((fork) => fork.name === name))
    throw new AppError('E_CONFLICT', `the fork ${name} is still there`);
  await (await tree()).store.dropNotes('fork', [name]);
}

function mustHaveRoot({ kept }: OfferedForksMeans): KeptWorkspaces {
  if (kept) return kept;
  throw new AppError('E_INVALID_INPUT', 'the runner of this workspace has no place for forks: start it with --root');
}

function show({ name, workspaceId, createdAt }: Fork): OfferedFork {
  return { name, workspaceId, createdAt };
}
