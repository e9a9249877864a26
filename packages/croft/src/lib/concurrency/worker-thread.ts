import { setPriority } from 'node:os';
import { parentPort, type Transferable, type Worker } from 'node:worker_threads';
import { joinWorkersGroup } from '../cgroup/put-server-first.ts';
import { startWorker } from './start-worker.ts';

interface WorkerThread<Question, Answer> {
  /** Rejects when the thread ends before it has answered. */
  ask(question: Question): Promise<Answer>;
}

interface Asked<Question> {
  readonly id: number;
  readonly question: Question;
}

interface Answered<Answer> {
  readonly id: number;
  readonly answer: Answer;
}

interface WorkerThreadOptions {
  /** How long the worker stays without a question. 30 seconds if left out: starting one takes about 30 ms. */
  readonly idleMs?: number;
  /** Megabytes for objects that are soon forgotten. */
  readonly youngGenerationMb?: number;
}

/**
 * Runs a module that calls `answerQuestions` in a worker thread, so that this thread is not blocked. The worker starts
 * with the first question.
 */
export function createWorkerThread<Question, Answer>(
  module: URL,
  { idleMs = 30_000, youngGenerationMb = 12 }: WorkerThreadOptions = {},
): WorkerThread<Question, Answer> {
  const open = new Map<number, PromiseWithResolvers<Answer>>();
  let worker: Worker | undefined;
  let nextId = 1;
  let idle: NodeJS.Timeout | undefined;

  return {
    ask(question) {
      worker ??= start();
      // The program does not end while somebody waits for an answer.
      worker.ref();
      clearTimeout(idle);
      const id = nextId++;
      const answered = Promise.withResolvers<Answer>();
      open.set(id, answered);
      worker.postMessage({ id, question } satisfies Asked<Question>);
      return answered.promise;
    },
  };

  function start(): Worker {
    // The worker uses descriptors that other threads opened, and hands out none of its own.
    const started = startWorker(module, { oldGenerationMb: 256, youngGenerationMb }, { trackUnmanagedFds: false });
    started.on('message', ({ id, answer }: Answered<Answer>) => {
      open.get(id)?.resolve(answer);
      open.delete(id);
      if (open.size > 0) return;
      started.unref();
      idle = setTimeout(stop, idleMs).unref();
    });
    started.on('error', () => {});
    started.on('exit', () => forget(started));
    return started;
  }

  function stop(): void {
    void worker?.terminate();
    worker = undefined;
  }

  function forget(ended: Worker): void {
    if (worker !== ended && worker !== undefined) return;
    worker = undefined;
    for (const { reject } of open.values()) reject(new Error('a thread of the server has ended before it answered'));
    open.clear();
  }
}

/**
 * Lowers the priority of a worker thread whose work can wait for the main thread. On Linux this affects the calling
 * thread alone.
 */
export function lowerThreadPriority(): void {
  if (process.platform === 'linux') setPriority(10);
}

/** Like `lowerThreadPriority`, for long work that holds no lock: it can wait for the commands of sandboxes as well. */
export function runAfterSandboxes(): void {
  lowerThreadPriority();
  if (process.platform === 'linux') joinWorkersGroup();
}

/** The worker's side of `createWorkerThread`. Objects named by `toTransfer` go to the asker without a copy. */
export function answerQuestions<Question, Answer>(
  answerTo: (question: Question) => Answer | Promise<Answer>,
  toTransfer: (answer: Answer) => readonly Transferable[] = () => [],
): void {
  parentPort?.on('message', async ({ id, question }: Asked<Question>) => {
    const answer = await answerTo(question);
    parentPort?.postMessage({ id, answer } satisfies Answered<Answer>, [...toTransfer(answer)]);
  });
}
