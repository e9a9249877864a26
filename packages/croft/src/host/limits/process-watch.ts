import type { SandboxDenial, SandboxLimits } from '../../core/commands/sandbox.ts';
import type { MeasuringThread } from '../growth/measuring-thread.ts';
import { sizeText } from './disk-watch.ts';

interface ProcessWatchOptions {
  readonly limits: SandboxLimits;
  readonly namespace: string;
  readonly thread: MeasuringThread;
}

/** Detects when the processes of a sandbox are too many or use too much memory, where no control group limits them. */
export function createProcessWatch({ limits, namespace, thread }: ProcessWatchOptions) {
  return {
    async check(): Promise<SandboxDenial | undefined> {
      const used = await thread.ask('usage', { namespace, memoryBytes: limits.memoryBytes });
      if (used.memoryBytes > limits.memoryBytes) {
        const next = 'Use less memory at once, or ask for a larger limit.';
        return { layer: 'limit', rule: 'memory', target: sizeText(limits.memoryBytes), next };
      }
      if (used.processes > limits.processes) {
        const next = 'Start fewer at once, or end those left behind.';
        return { layer: 'limit', rule: 'processes', target: `${limits.processes} processes`, next };
      }
      return undefined;
    },
  };
}
