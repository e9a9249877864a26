import { observeGroup } from '../../lib/cgroup/find-groups.ts';
import type { EngineClient } from './engine-client.ts';

/** The container's first process on this machine, or 0, and the control group that counts what its limits refused. */
export interface ContainerObservation {
  pid: number;
  group: ReturnType<typeof observeGroup>;
}

/** The engine may number processes differently. The pid counts only if that process is in the container's group. */
export async function observeContainer(engine: EngineClient, id: string): Promise<ContainerObservation> {
  const pid = await engine.pidOf(id).catch(() => 0);
  const group = observeGroup(pid, id);
  return { pid: group ? pid : 0, group };
}

export function hasKilledForMemory(group: ContainerObservation['group']): boolean {
  try {
    return group !== undefined && group.refusals().memoryKills > 0;
  } catch {
    // The group was removed with its sandbox.
    return false;
  }
}
