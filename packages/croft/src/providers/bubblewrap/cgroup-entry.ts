import type { Spawned } from '../../init/spawner.ts';
import type { Group } from '../../lib/cgroup/find-groups.ts';

const enterWithinMs = 10_000;

/** How a sandbox gets its limits before its first program runs. */
export interface CgroupEntry {
  /** Arguments for bubblewrap: it reports the sandbox on descriptor 4, and waits on descriptor 5. */
  readonly options: readonly string[];
  readonly hasGate: boolean;
  /**
   * Files of control groups that the init writes itself to before anything else: `FIRST_GROUP` of `native/init/init.c`
   * and the descriptors after it.
   */
  readonly groupFiles: readonly string[];
  /** Returns the pid of the sandbox's first process, as this machine numbers it. */
  enter(spawned: Spawned): Promise<number>;
}

export function toCgroupEntry(group: Group | undefined): CgroupEntry {
  const groupFiles = group?.selfEntryFiles ?? [];
  // If the init cannot enter the group by itself, this process moves it, and the gate keeps the init waiting until
  // then.
  const moved = groupFiles.length === 0 ? group : undefined;
  return {
    options: ['--info-fd', '4', ...(moved ? ['--block-fd', '5'] : [])],
    hasGate: moved !== undefined,
    groupFiles,
    async enter(spawned) {
      const pid = await readPid(spawned);
      await moved?.add(pid);
      if (moved) spawned.openGate();
      return pid;
    },
  };
}

async function readPid({ infoText, kill }: Spawned): Promise<number> {
  const timer = setTimeout(kill, enterWithinMs);
  const text = await infoText.finally(() => clearTimeout(timer));
  const pid = Number(/"child-pid": *(\d+)/.exec(text)?.[1]);
  if (!Number.isInteger(pid)) throw new Error('bubblewrap did not report its sandbox');
  return pid;
}
