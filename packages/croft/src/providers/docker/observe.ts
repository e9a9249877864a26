import { observeGroup } from '../../lib/cgroup/cgroup.ts';
import type { Engine } from './engine.ts';

/** Its first process on this machine, or 0, and what its limits refused. */
export interface Observed {
  pid: number;
  group: ReturnType<typeof observeGroup>;
}

/** The number that an engine has for a process means another one here, if it is not in that group. */
export async function observe(engine: Engine, id: string): Promise<Observed> {
  const pid = await engine.pidOf(id).catch(() => 0);
  const group = observeGroup(pid, id);
  return { pid: group ? pid : 0, group };
}

export function hasKilled(group: Observed['group']): boolean {
  try {
    return group !== undefined && group.refusals().memoryKills > 0;
  } catch {
    // Gone with its sandbox.
    return false;
  }
}
