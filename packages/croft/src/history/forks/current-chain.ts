import type { WorkingTree } from '../../core/history/ports/working-tree.ts';
import { compareWithBase, type ForkBase, type ForkBases } from './fork-bases.ts';
import { advance, type BaseState, isOnDisk, type LayerChain, layersOf, newLayerChain, stateOf } from './layer-chain.ts';
import type { LayerPins } from './layer-pins.ts';

export interface CurrentChainOptions {
  readonly bases: ForkBases;
  /** Descriptor of the workspace. */
  readonly workspaceFd: number;
  readonly tree: Pick<WorkingTree, 'touchedSince'>;
  /** With more pending paths than this, which only a mount can apply, the next fork starts from a new base. */
  readonly maxPaths: number;
  /** Pins the layers that the next fork starts from. */
  readonly pins: LayerPins;
}

/** The chain that forks start from now. The caller makes sure that only one of these functions runs at a time. */
export function createCurrentChain({ bases, workspaceFd, tree, maxPaths, pins }: CurrentChainOptions) {
  const id = crypto.randomUUID();
  // Two ids, so that a new chain can be made while the current one is followed.
  const subscribers = [`forks-${id}-0`, `forks-${id}-1`] as const;
  let chain: LayerChain | undefined;

  function use(next: LayerChain): LayerChain {
    pins.replace(layersOf(next));
    chain = next;
    return next;
  }

  async function make(signal?: AbortSignal): Promise<LayerChain> {
    // Starts following before the copy, so that paths touched during the copy are looked at again.
    await tree.touchedSince(subscribers[0]);
    return follow(use(newLayerChain(await bases.make(workspaceFd, signal), subscribers[0])), signal);
  }

  async function compare(base: ForkBase, asker: string, signal?: AbortSignal): Promise<LayerChain> {
    return use(newLayerChain(base, asker, await compareWithBase(base, workspaceFd, { maxPaths, signal })));
  }

  async function follow(known: LayerChain, signal?: AbortSignal): Promise<LayerChain> {
    const since = await tree.touchedSince(known.subscriber);
    if (since === 'everything') return compare(known.base, known.subscriber, signal);
    for (const path of since) {
      known.touched.add(path);
      known.pending.add(path);
    }
    return known;
  }

  async function begin(signal?: AbortSignal): Promise<LayerChain> {
    const base = bases.newest();
    if (!base) return make(signal);
    // The base was not followed until now. Following starts here, and the comparison finds earlier changes.
    await tree.touchedSince(subscribers[0]);
    return compare(base, subscribers[0], signal);
  }

  async function find(signal?: AbortSignal): Promise<LayerChain> {
    const known = await follow(chain && isOnDisk(chain) ? chain : await begin(signal), signal);
    await advance(known, { bases, workspaceFd, signal });
    return known.pending.size > maxPaths ? make(signal) : use(known);
  }

  return {
    current: () => chain,
    use,
    follow,
    otherSubscriber: ({ subscriber }: LayerChain): string =>
      subscriber === subscribers[0] ? subscribers[1] : subscribers[0],
    /** Returns the chain with everything touched until now. */
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
