import { AppError } from '@croft/protocol';
import { explainRefusal, explainStart } from '../../host/explain-start.ts';
import type { Spawned, Spawner, SpawnRequest } from '../../init/spawner.ts';
import type { Entry } from './entry.ts';

/** `BOX` of `native/box.h`: the spawner makes the sandbox itself, of the words that bubblewrap would be told. */
const ownMaker = 'box';

export interface LaunchOptions extends Pick<SpawnRequest, 'owner' | 'directory'> {
  /** Bubblewrap, for machines that do not let us make one: AppArmor may know it and not us. */
  readonly program: string;
  readonly entry: Entry;
  /** What the sandbox is to be, and what runs in it. */
  readonly words: readonly string[];
}

export interface Launched {
  readonly spawned: Spawned;
  /** The sandbox's first process, as this machine numbers it. */
  readonly pid: number;
}

export type Launcher = ReturnType<typeof createLauncher>;

/**
 * Starts sandboxes, each with its limits on it. What we cannot make is left to bubblewrap, and once it could, all later
 * ones are. What it cannot make either is told in its words.
 */
export function createLauncher(spawner: Spawner) {
  let canMake = true;
  return async (options: LaunchOptions): Promise<Launched> => {
    const own = canMake ? await start(spawner, ownMaker, options).catch(() => undefined) : undefined;
    if (own) return own;
    const launched = await start(spawner, options.program, options);
    canMake = false;
    return launched;
  };
}

async function start(spawner: Spawner, maker: string, options: LaunchOptions): Promise<Launched> {
  const { entry, words, owner, directory } = options;
  const argv = [maker, ...entry.options, ...words] as const;
  const spawned = await spawner
    .start({ argv, owner, directory, groups: entry.doors, hasGate: entry.hasGate })
    .catch((cause) => {
      throw unavailable('bubblewrap cannot be started', cause);
    });
  return { spawned, pid: await entry.enter(spawned).catch((cause) => endWith(spawned, cause)) };
}

/** What it said to people is why it did not begin. */
export async function endWith(spawned: Spawned, cause: unknown): Promise<never> {
  spawned.kill();
  const words = await spawned.gone;
  throw unavailable(explainStart(words, explainRefusal(words)), new Error(words.trim(), { cause }));
}

export function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError('E_SANDBOX_UNAVAILABLE', reason, { details: { provider: 'bubblewrap' }, cause });
}
