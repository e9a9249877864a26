import type { SandboxLimits } from './sandbox.ts';

/** Returns the lower value of each limit. A limit that `wanted` leaves out is the highest allowed. */
export function lowerLimits(most: SandboxLimits, wanted: Partial<SandboxLimits>): SandboxLimits {
  const least = (name: keyof SandboxLimits) => Math.min(wanted[name] ?? most[name], most[name]);
  return {
    memoryBytes: least('memoryBytes'),
    processes: least('processes'),
    cpus: least('cpus'),
    fileBytes: least('fileBytes'),
    openFiles: least('openFiles'),
    diskBytes: least('diskBytes'),
  };
}
