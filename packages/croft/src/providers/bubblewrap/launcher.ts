import { AppError } from '@croft/protocol';
import { explainBubblewrapFailure, explainStartFailure } from '../../host/explain-start-failure.ts';
import type { Spawned, Spawner, SpawnRequest } from '../../init/spawner.ts';
import { UnsafeDirectoryError } from '../../lib/files/temporary-base.ts';
import type { CgroupEntry } from './cgroup-entry.ts';

/** `BOX` of `native/box/make-box.h`: the spawner makes the sandbox itself, from the arguments for bubblewrap. */
const ownMaker = 'box';

interface LaunchOptions extends Pick<SpawnRequest, 'owner' | 'directoryFd'> {
  /**
   * The path of bubblewrap, for machines that do not let Croft make sandboxes itself: AppArmor may allow only
   * bubblewrap.
   */
  readonly program: string;
  readonly entry: CgroupEntry;
  /** The arguments that describe the sandbox and the command that runs in it. */
  readonly words: readonly string[];
}

interface Launched {
  readonly spawned: Spawned;
  /** The sandbox's first process, as this machine numbers it. */
  readonly pid: number;
}

export type Launcher = ReturnType<typeof createLauncher>;

/**
 * Starts sandboxes with their limits. First tries the spawner's own way, then bubblewrap. Once only bubblewrap worked,
 * all later sandboxes use it. If both fail, the error has bubblewrap's own message.
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
  const { entry, words, owner, directoryFd } = options;
  const argv = [maker, ...entry.options, ...words] as const;
  const spawned = await spawner
    .start({ argv, owner, directoryFd, groups: entry.groupFiles, hasGate: entry.hasGate })
    .catch((cause) => {
      throw cause instanceof UnsafeDirectoryError ? cause : unavailable('bubblewrap cannot be started', cause);
    });
  return { spawned, pid: await entry.enter(spawned).catch((cause) => endWith(spawned, cause)) };
}

/** Kills a sandbox that did not start, and throws with its output as the reason. */
export async function endWith(spawned: Spawned, cause: unknown): Promise<never> {
  spawned.kill();
  const words = await spawned.ended;
  throw unavailable(explainStartFailure(words, explainBubblewrapFailure(words)), new Error(words.trim(), { cause }));
}

export function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError('E_SANDBOX_UNAVAILABLE', reason, { details: { provider: 'bubblewrap' }, cause });
}
