import { closeSync, fstatSync, type Stats } from 'node:fs';
import { reopenDirectory } from '../disk/handles.ts';
import { createKeyedLock } from '../lib/keyed-lock.ts';
import { advance, type BaseState, type Chain, newChain } from './base-chain.ts';
import { createKeptChain, type KeptChainOptions } from './kept-chain.ts';
import { createHolder, type Holder } from './layer-holds.ts';

export type { BaseState } from './base-chain.ts';

export interface FollowedBaseOptions extends Omit<KeptChainOptions, 'maxPaths' | 'holder'> {
  readonly holder?: Holder | undefined;
  readonly maxPaths?: number | undefined;
  /** With so many layers, they are made one when nobody waits for it. */
  readonly maxSteps?: number | undefined;
  /** Until that begins: whoever needed the last of them has been answered by then. */
  readonly renewAfterMs?: number | undefined;
}

/** Of the layers, before whoever wants another has to wait; of the differences, before a new base is made meanwhile. */
const patience = 4;

export type FollowedBase = ReturnType<typeof createFollowedBase>;

/**
 * The base of one workspace, and layers of what was touched since, as the kernel tells: a fork costs what was touched since
 * the last one, and not the tree.
 */
export function createFollowedBase(options: FollowedBaseOptions) {
  const { bases, live, tree, holder = createHolder() } = options;
  const { maxPaths = 2000, maxSteps = 16, renewAfterMs = 200 } = options;
  const lock = createKeyedLock();
  const was = fstatSync(live);
  const kept = createKeptChain({ bases, live, tree, maxPaths, holder });
  let renewing: Promise<void> | undefined;

  /** The layers of a chain as one, or a new base where that would take long: forks go on from the old one meanwhile. */
  async function renew(old: Chain): Promise<void> {
    const asker = kept.askerBeside(old);
    await tree.touchedSince(asker);
    using own = openAgain(live, was);
    if ((await lock.run('', () => kept.follow(old))) !== old) return;
    const isMuch = old.touched.size > maxPaths || old.pending.size > maxPaths / patience;
    const base = isMuch ? await bases.make(own.handle) : old.base;
    const fresh = newChain(base, asker, isMuch ? [] : [...old.touched]);
    await advance(fresh, { bases, live: own.handle });
    await lock.run('', async () => void (kept.current() === old && kept.use(fresh)));
  }

  function renewSoon(): void {
    const chain = kept.current();
    if (!chain || renewing) return;
    if (chain.steps.length < maxSteps && chain.pending.size <= maxPaths / patience) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    setTimeout(resolve, renewAfterMs).unref();
    // What comes of nothing leaves everything as it was, and the next fork begins it again.
    renewing = promise
      .then(() => renew(kept.current() ?? chain))
      .catch(() => {})
      .finally(() => {
        renewing = undefined;
      });
  }

  return {
    /** Makes one if there is none, or if too much is different. */
    async find(signal?: AbortSignal): Promise<BaseState> {
      if ((kept.current()?.steps.length ?? 0) >= maxSteps * patience) await renewing;
      const found = await lock.run('', () => kept.find(signal));
      renewSoon();
      return found;
    },
  };
}

/** A handle of our own, for as long as nobody waits for us. The number may be somebody else's by now. */
function openAgain(live: number, was: Stats): Disposable & { readonly handle: number } {
  const handle = reopenDirectory(live);
  const { dev, ino } = fstatSync(handle);
  const own = { handle, [Symbol.dispose]: () => closeSync(handle) };
  if (dev === was.dev && ino === was.ino) return own;
  own[Symbol.dispose]();
  throw new Error('the workspace is not open any more');
}
