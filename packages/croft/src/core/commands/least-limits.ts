import type { SandboxLimits } from './sandbox.ts';

/** Of each limit the lower one. What is not wanted in particular is all there is. */
export function leastOf(most: SandboxLimits, wanted: Partial<SandboxLimits>): SandboxLimits {
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
