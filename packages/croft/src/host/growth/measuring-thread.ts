import { createWorkerThread } from '../../lib/concurrency/worker-thread.ts';
import type { DiskGrowth, DiskGrowthRequest } from './growth-tally.ts';
import type { ProcessorUse, ProcessUsage } from './namespace-processes.ts';

export interface MeasuringQuestions {
  readonly growth: { readonly asked: DiskGrowthRequest; readonly answer: DiskGrowth };
  readonly usage: {
    readonly asked: { readonly namespace: string; readonly memoryBytes: number };
    readonly answer: ProcessUsage;
  };
  readonly processor: { readonly asked: { readonly namespace: string }; readonly answer: ProcessorUse };
}

export type MeasuringQuestion = {
  [Kind in keyof MeasuringQuestions]: { kind: Kind } & MeasuringQuestions[Kind]['asked'];
}[keyof MeasuringQuestions];

export interface MeasuringThread {
  /** Rejects when the thread ends before it has answered. */
  ask<Kind extends keyof MeasuringQuestions>(
    kind: Kind,
    asked: MeasuringQuestions[Kind]['asked'],
  ): Promise<MeasuringQuestions[Kind]['answer']>;
}

/**
 * Measures disk growth and memory in a worker thread, so that large trees do not block this thread. The worker runs
 * only while it is needed.
 */
export function createMeasuringThread(): MeasuringThread {
  const thread = createWorkerThread<MeasuringQuestion, never>(new URL('./measuring-worker.ts', import.meta.url));
  return { ask: (kind, asked) => thread.ask({ kind, ...asked } as MeasuringQuestion) };
}
