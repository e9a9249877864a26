import { setImmediate as nextTurn } from 'node:timers/promises';
import { answerQuestions } from '../../lib/concurrency/worker-thread.ts';
import { measureGrowth } from './measure-growth.ts';
import type { MeasuringQuestion, MeasuringQuestions } from './measuring-thread.ts';
import { findProcesses, processorUseOf, usageOf } from './namespace-processes.ts';

/** A long measurement pauses after this time, so that short questions are answered in between. */
const turnMs = 10;
/** Measurements at once; each keeps descriptors open. */
const maxWalks = 4;

/**
 * Milliseconds for which one scan of all processes is reused: many watchdogs ask at the same time, and one scan answers
 * them all.
 */
const recentMs = 100;

let scan = { at: Number.NEGATIVE_INFINITY, found: new Map<string | undefined, number[]>() };
let walks = 0;
const waiting: (() => void)[] = [];

answerQuestions(answerTo);

async function answerTo(question: MeasuringQuestion): Promise<MeasuringQuestions[keyof MeasuringQuestions]['answer']> {
  if (question.kind === 'usage') return usageOf(recentProcesses(question.namespace), question.memoryBytes);
  if (question.kind === 'processor') return processorUseOf(recentProcesses(question.namespace));
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
