import { createWorkerThread } from '../lib/concurrency/worker-thread.ts';
import type { IndexReply, IndexRequest, IndexTask, IndexWork } from './index-questions.ts';

/** Asks the threads of the index about one database. */
export interface IndexClient {
  /** Resolves with `undefined` if the index cannot do it: it is full, held by another process, or broken. */
  ask<Name extends keyof IndexWork>(
    name: Name,
    given: IndexWork[Name]['given'],
  ): Promise<IndexWork[Name]['answer'] | undefined>;
  /** The index has its most bytes, or the disk is full. */
  isFull(): boolean;
}

const module = new URL('./index-worker.ts', import.meta.url);
/** Searches wait for no one who writes, and nobody waits while ranks are worked out. */
const threads = {
  reading: createWorkerThread<IndexRequest, IndexReply>(module, { youngGenerationMb: 6 }),
  writing: createWorkerThread<IndexRequest, IndexReply>(module, { youngGenerationMb: 6, idleMs: 10_000 }),
  ranking: createWorkerThread<IndexRequest, IndexReply>(module, { idleMs: 1000 }),
};
const threadOf: Readonly<Record<keyof IndexWork, keyof typeof threads>> = {
  ...{ state: 'writing', note: 'writing', add: 'writing', list: 'writing', store: 'writing' },
  ...{ find: 'reading', rank: 'ranking', map: 'ranking', tidy: 'ranking', close: 'writing' },
};

/** The biggest index of a workspace. */
const maxBytes = 512 * 1024 * 1024;

/** `onWarning` is called once: what fails again and again is one thing to repair. */
export function createIndexClient(file: string, onWarning: (message: string) => void): IndexClient {
  let [isFull, isReported] = [false, false];

  return {
    isFull: () => isFull,
    async ask(name, given) {
      const task = { name, given } as IndexTask;
      const reply = await askThread(threads[threadOf[name]], { file, maxBytes, task });
      if ('answer' in reply) return reply.answer as IndexWork[typeof name]['answer'];
      if (reply.failed === 'full') isFull = true;
      if (reply.failed !== 'busy' && !isReported) onWarning(`the code index ${file} does not work: ${reply.why}`);
      isReported ||= reply.failed !== 'busy';
      return undefined;
    },
  };
}

/** Closes the index in every thread. */
export async function closeIndexEverywhere(file: string): Promise<void> {
  const task: IndexTask = { name: 'close', given: null };
  await Promise.all(Object.values(threads).map((thread) => askThread(thread, { file, maxBytes, task })));
}

/** A thread that ended is started again by the next question. */
async function askThread(thread: (typeof threads)['reading'], request: IndexRequest): Promise<IndexReply> {
  try {
    return await thread.ask(request);
  } catch (thrown) {
    return { failed: 'broken', why: String(thrown) };
  }
}
