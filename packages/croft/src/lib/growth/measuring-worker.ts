import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import { measureGrowth } from './disk-growth.ts';
import type { Question, Questions } from './measuring-thread.ts';
import { findProcesses, usageOf } from './namespace-processes.ts';

/** So that a question with a short answer does not wait for one with a long answer. */
const turnMs = 10;
/** Each holds handles. */
const maxWalks = 4;

/** Many ask at the same time, and looking through all processes of the machine answers them all. */
const recentMs = 100;

let scan = { at: Number.NEGATIVE_INFINITY, found: new Map<string | undefined, number[]>() };
let walks = 0;
const waiting: (() => void)[] = [];

parentPort?.on('message', async ({ id, question }: { id: number; question: Question }) => {
  parentPort?.postMessage({ id, answer: await answerTo(question) });
});

async function answerTo(question: Question): Promise<Questions[keyof Questions]['answer']> {
  if (question.kind === 'usage') return usageOf(recentProcesses(question.namespace), question.memoryBytes);
  if (walks >= maxWalks) await new Promise<void>((resolve) => waiting.push(resolve));
  walks++;
  try {
    return await runInTurns(measureGrowth(question));
  } finally {
    walks--;
    waiting.shift()?.();
  }
}

function recentProcesses(namespace: string): number[] {
  const now = performance.now();
  if (now - scan.at > recentMs) scan = { at: now, found: findProcesses() };
  return scan.found.get(namespace) ?? [];
}

async function runInTurns<Value>(steps: Generator<undefined, Value>): Promise<Value> {
  for (;;) {
    const until = performance.now() + turnMs;
    while (performance.now() < until) {
      const step = steps.next();
      if (step.done) return step.value;
    }
    await nextTurn();
  }
}
