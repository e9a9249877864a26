import { type FailedCommand, findDenialsInOutput } from '../../src/core/commands/denials/find-denials-in-output.ts';
import type { SandboxLimits } from '../../src/core/commands/sandbox.ts';

export const workspacePath = '/home/me/project';
const megabyte = 1024 ** 2;
const limits: SandboxLimits = {
  memoryBytes: 512 * megabyte,
  processes: 64,
  cpus: 1,
  fileBytes: 100 * megabyte,
  openFiles: 256,
  diskBytes: 300 * megabyte,
};
const failed = { code: 1, signal: null };

export function explain(output: string, more: Partial<FailedCommand> = {}) {
  const fence = { workspacePath, guardsFiles: true, network: 'deny-all', limits } as const;
  return findDenialsInOutput({ output, exit: failed, ...fence, ...more });
}
