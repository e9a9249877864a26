import { setFlagsFromString } from 'node:v8';
import { Worker, type WorkerOptions } from 'node:worker_threads';

interface WorkerMemory {
  /** Most megabytes of objects that the thread keeps. A thread that needs more ends. */
  readonly oldGenerationMb: number;
  /** Megabytes for objects that are soon forgotten. With less, collecting them takes more time. */
  readonly youngGenerationMb: number;
}

/**
 * The size on the command line is meant for the main thread, which has taken it at its start. While it is set, V8 gives
 * every other thread as much (48 MB), whatever its limits say.
 */
const ownSizes = '--max-semi-space-size=0';
/** Threads often end together. */
const calmMs = 1000;
let calming: NodeJS.Timeout | undefined;
let onCalm = (): void => {};

/** Runs `work` each time after worker threads have ended, whose memory is free then. */
export function afterWorkersEnd(work: () => void): void {
  onCalm = work;
}

/** Starts a worker thread that has neither the environment nor the flags of this process. */
export function startWorker(module: URL, memory: WorkerMemory, options: WorkerOptions = {}): Worker {
  setFlagsFromString(ownSizes);
  const resourceLimits = {
    maxOldGenerationSizeMb: memory.oldGenerationMb,
    maxYoungGenerationSizeMb: memory.youngGenerationMb,
  };
  const worker = new Worker(module, { ...options, env: {}, execArgv: [], resourceLimits });
  worker.once('exit', () => {
    if (!calming) calming = setTimeout(calm, calmMs).unref();
  });
  return worker;
}

function calm(): void {
  calming = undefined;
  onCalm();
}
