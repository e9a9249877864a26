import type { WorkingTree } from '../core/history/working-tree.ts';
import { advance, type BaseState, type Chain, isThere, layersOf, newChain, stateOf } from './base-chain.ts';
import { type Base, type Bases, compareWithBase } from './fork-bases.ts';
import type { Holder } from './layer-holds.ts';

export interface KeptChainOptions {
  readonly bases: Bases;
  /** An open handle of the workspace. */
  readonly live: number;
  readonly tree: Pick<WorkingTree, 'touchedSince'>;
  /** With more differences than these that only a mount can see to, the next fork starts from a new base. */
  readonly maxPaths: number;
  /** Holds what the next fork is made from. */
  readonly holder: Holder;
}

/** The chain that forks are made from now. Whoever calls has it alone. */
export function createKeptChain({ bases, live, tree, maxPaths, holder }: KeptChainOptions) {
  const id = crypto.randomUUID();
  // Two, so that another chain can be made while this one is followed.
  const askers = [`forks-${id}-0`, `forks-${id}-1`] as const;
  let chain: Chain | undefined;

  function use(next: Chain): Chain {
    holder.keep(layersOf(next));
    chain = next;
    return next;
  }

  async function make(signal?: AbortSignal): Promise<Chain> {
    // Asked first: what is touched while it is copied is looked at again.
    await tree.touchedSince(askers[0]);
    return follow(use(newChain(await bases.make(live, signal), askers[0])), signal);
  }

  async function compare(base: Base, asker: string, signal?: AbortSignal): Promise<Chain> {
    return use(newChain(base, asker, await compareWithBase(base, live, { maxPaths, signal })));
  }

  async function follow(known: Chain, signal?: AbortSignal): Promise<Chain> {
    const since = await tree.touchedSince(known.asker);
    if (since === 'everything') return compare(known.base, known.asker, signal);
    for (const path of since) {
      known.touched.add(path);
      known.pending.add(path);
    }
    return known;
  }

  async function begin(signal?: AbortSignal): Promise<Chain> {
    const base = bases.newest();
    if (!base) return make(signal);
    // Nobody has followed it: from here on it is, and what was before is looked for.
    await tree.touchedSince(askers[0]);
    return compare(base, askers[0], signal);
  }

  async function find(signal?: AbortSignal): Promise<Chain> {
    const known = await follow(chain && isThere(chain) ? chain : await begin(signal), signal);
    await advance(known, { bases, live, signal });
    return known.pending.size > maxPaths ? make(signal) : use(known);
  }

  return {
    current: () => chain,
    use,
    follow,
    askerBeside: ({ asker }: Chain): string => (asker === askers[0] ? askers[1] : askers[0]),
    /** With everything that was touched until now. */
    async find(signal?: AbortSignal): Promise<BaseState> {
      const found = await find(signal).catch((thrown) => {
        if (!isTooMany(thrown)) throw thrown;
        return make(signal);
      });
      return stateOf(found);
    },
  };
}

function isTooMany(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'E_TOO_LARGE';
}
