import { closeSync, fstatSync, type Stats } from 'node:fs';
import { reopenDirectory } from '../../disk/paths/handles.ts';
import { createKeyedLock } from '../../lib/concurrency/keyed-lock.ts';
import { type CurrentChainOptions, createCurrentChain } from './current-chain.ts';
import { advance, type BaseState, type LayerChain, newLayerChain } from './layer-chain.ts';
import { createLayerPins, type LayerPins } from './layer-pins.ts';

export type { BaseState } from './layer-chain.ts';

export interface FollowedBaseOptions extends Omit<CurrentChainOptions, 'maxPaths' | 'pins'> {
  readonly pins?: LayerPins | undefined;
  readonly maxPaths?: number | undefined;
  /** With this many layers, the layers are merged into one in the background. */
  readonly maxSteps?: number | undefined;
  /** Delay before the merge begins, so that the caller that needed the last layer has been answered. */
  readonly renewAfterMs?: number | undefined;
}

/**
 * Factor on `maxSteps`: beyond it a caller waits for the merge. Divisor of `maxPaths`: beyond it a new base is made in
 * the background.
 */
const patience = 4;

export type FollowedBase = ReturnType<typeof createFollowedBase>;

/**
 * The base of one workspace, and layers of the paths that the kernel reported as touched since. A fork costs what was
 * touched since the last fork, and not the size of the tree.
 */
export function createFollowedBase(options: FollowedBaseOptions) {
  const { bases, workspaceFd, tree, pins = createLayerPins() } = options;
  const { maxPaths = 2000, maxSteps = 16, renewAfterMs = 200 } = options;
  const lock = createKeyedLock();
  const was = fstatSync(workspaceFd);
  const currentChain = createCurrentChain({ bases, workspaceFd, tree, maxPaths, pins });
  let renewing: Promise<void> | undefined;

  /**
   * Merges the layers of a chain into one, or makes a new base where merging would take long. Forks use the old chain
   * meanwhile.
   */
  async function renew(old: LayerChain): Promise<void> {
    const subscriber = currentChain.otherSubscriber(old);
    await tree.touchedSince(subscriber);
    using own = openAgain(workspaceFd, was);
    if ((await lock.run('', () => currentChain.follow(old))) !== old) return;
    const isMuch = old.touched.size > maxPaths || old.pending.size > maxPaths / patience;
    const base = isMuch ? await bases.make(own.handle) : old.base;
    const fresh = newLayerChain(base, subscriber, isMuch ? [] : [...old.touched]);
    await advance(fresh, { bases, workspaceFd: own.handle });
    await lock.run('', async () => void (currentChain.current() === old && currentChain.use(fresh)));
  }

  function renewSoon(): void {
    const chain = currentChain.current();
    if (!chain || renewing) return;
    if (chain.steps.length < maxSteps && chain.pending.size <= maxPaths / patience) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    setTimeout(resolve, renewAfterMs).unref();
    // A failure leaves everything as it was, and the next fork starts the merge again.
    renewing = promise
      .then(() => renew(currentChain.current() ?? chain))
      .catch(() => {})
      .finally(() => {
        renewing = undefined;
      });
  }

  return {
    /** Returns the layers that a fork starts from. Makes a base if there is none, or if too much has changed. */
    async find(signal?: AbortSignal): Promise<BaseState> {
      if ((currentChain.current()?.steps.length ?? 0) >= maxSteps * patience) await renewing;
      const found = await lock.run('', () => currentChain.find(signal));
      renewSoon();
      return found;
    },
  };
}

/**
 * Opens a descriptor of our own, for background work. The number `live` may belong to another directory by now, so
 * device and inode are compared.
 */
function openAgain(workspaceFd: number, was: Stats): Disposable & { readonly handle: number } {
  const fd = reopenDirectory(workspaceFd);
  const { dev, ino } = fstatSync(fd);
  const own = { handle: fd, [Symbol.dispose]: () => closeSync(fd) };
  if (dev === was.dev && ino === was.ino) return own;
  own[Symbol.dispose]();
  throw new Error('the workspace is not open any more');
}
