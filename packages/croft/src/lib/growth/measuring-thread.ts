import { Worker } from 'node:worker_threads';
import type { Growth, GrowthRequest } from './growth-tally.ts';
import type { ProcessUsage } from './namespace-processes.ts';

export interface Questions {
  readonly growth: { readonly asked: GrowthRequest; readonly answer: Growth };
  readonly usage: {
    readonly asked: { readonly namespace: string; readonly memoryBytes: number };
    readonly answer: ProcessUsage;
  };
}

export type Question = { [Kind in keyof Questions]: { kind: Kind } & Questions[Kind]['asked'] }[keyof Questions];

export interface MeasuringThread {
  /** Rejects when the thread ends before it has answered. */
  ask<Kind extends keyof Questions>(kind: Kind, asked: Questions[Kind]['asked']): Promise<Questions[Kind]['answer']>;
}

const idleMs = 30_000;

/** Looks at what others made, however much that is, without holding up this thread. There while it is needed. */
export function createMeasuringThread(): MeasuringThread {
  const open = new Map<number, PromiseWithResolvers<never>>();
  let worker: Worker | undefined;
  let nextId = 1;
  let idle: NodeJS.Timeout | undefined;

  return {
    ask(kind, asked) {
      worker ??= start();
      clearTimeout(idle);
      const id = nextId++;
      const answered = Promise.withResolvers<never>();
      open.set(id, answered);
      worker.postMessage({ id, question: { kind, ...asked } });
      return answered.promise;
    },
  };

  function start(): Worker {
    const started = new Worker(new URL('./measuring-worker.ts', import.meta.url), {
      ...{ env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 256 } },
    });
    started.on('message', ({ id, answer }: { id: number; answer: never }) => {
      open.get(id)?.resolve(answer);
      open.delete(id);
      if (open.size === 0) idle = setTimeout(stop, idleMs).unref();
    });
    started.on('error', () => {});
    started.on('exit', () => forget(started));
    started.unref();
    return started;
  }

  function stop(): void {
    void worker?.terminate();
    worker = undefined;
  }

  function forget(ended: Worker): void {
    if (worker !== ended && worker !== undefined) return;
    worker = undefined;
    for (const { reject } of open.values()) reject(new Error('the thread that measures has ended'));
    open.clear();
  }
}
