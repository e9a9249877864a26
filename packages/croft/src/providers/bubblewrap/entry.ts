import type { Spawned } from '../../init/spawner.ts';
import type { Group } from '../../lib/cgroup/cgroup.ts';

const enterWithinMs = 10_000;

/** How a sandbox comes under its limits before the first program in it runs. */
export interface Entry {
  /** For bubblewrap: it tells of the sandbox on handle 4, and waits on 5. */
  readonly options: readonly string[];
  readonly hasGate: boolean;
  /** Files by which the init enters before it does anything else: `FIRST_GROUP` of `native/init.c` and those after. */
  readonly doors: readonly string[];
  /** Answers the sandbox's first process, as this machine numbers it. */
  enter(spawned: Spawned): Promise<number>;
}

export function toEntry(group: Group | undefined): Entry {
  const doors = group?.doors ?? [];
  // Where the init cannot enter by itself it is moved, and not let run until then.
  const moved = doors.length === 0 ? group : undefined;
  return {
    options: ['--info-fd', '4', ...(moved ? ['--block-fd', '5'] : [])],
    hasGate: moved !== undefined,
    doors,
    async enter(spawned) {
      const pid = await readPid(spawned);
      await moved?.add(pid);
      if (moved) spawned.openGate();
      return pid;
    },
  };
}

async function readPid({ told, kill }: Spawned): Promise<number> {
  const timer = setTimeout(kill, enterWithinMs);
  const text = await told.finally(() => clearTimeout(timer));
  const pid = Number(/"child-pid": *(\d+)/.exec(text)?.[1]);
  if (!Number.isInteger(pid)) throw new Error('bubblewrap did not tell of its sandbox');
  return pid;
}
