import type { Worker } from 'node:worker_threads';
import type { ParsedFile } from '../core/code/code-symbol.ts';
import { startWorker } from '../lib/concurrency/start-worker.ts';

export interface ParseQuestion {
  /** `digest`: only the parts that the index stores. */
  readonly wants: 'file' | 'digest';
  /** Absent: the file is read as plain text. */
  readonly language: string | undefined;
  readonly bytes: Uint8Array;
  /** The worker gives up after this time. */
  readonly timeoutMs: number;
}

/** Why a file was not parsed: it took too long, or the parser broke or ran out of memory. */
export type ParseFailure = 'late' | 'crashed';

/** The file is JSON with the words as pairs, which the main thread reads faster than a cloned object. */
export type ParseAnswer =
  | { readonly json: string; readonly isSpent: boolean }
  | { readonly failed: ParseFailure; readonly isSpent: boolean };

interface ParserThreadOptions {
  readonly module: URL;
  readonly timeoutMs: number;
  /** Further time until a worker that does not give up by itself is ended. */
  readonly graceMs: number;
  /** How long the worker stays without a question. */
  readonly idleMs: number;
}

/** Room for the text and the definitions of a file. */
const youngGenerationMb = 12;
/** Loading the first grammar takes a while on a busy machine. It does not count as parsing. */
const startMs = 10_000;

/**
 * One worker that parses one file at a time. A worker that does not answer in time is ended, and one whose memory has
 * grown is replaced; the next question starts another.
 */
export function createParserThread({ module, timeoutMs, graceMs, idleMs }: ParserThreadOptions) {
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  const grammars = new Set<string>();

  return {
    /** Returns the JSON of the answer. */
    async ask(question: Omit<ParseQuestion, 'timeoutMs'>): Promise<{ readonly json: string } | ParseFailure> {
      clearTimeout(idle);
      worker ??= start();
      const asked = worker;
      asked.ref();
      const extra = grammars.has(question.language ?? '') ? 0 : startMs;
      const answer = await answerOf(asked, { ...question, timeoutMs }, timeoutMs + graceMs + extra);
      if (answer === undefined || answer.isSpent) end(asked);
      else rest(asked, question.language ?? '');
      if (answer === undefined) return 'late';
      return 'json' in answer ? answer : answer.failed;
    },
  };

  function start(): Worker {
    grammars.clear();
    const started = startWorker(module, { oldGenerationMb: 256, youngGenerationMb }, { trackUnmanagedFds: false });
    started.on('error', () => {});
    started.on('exit', () => {
      if (worker === started) worker = undefined;
    });
    return started;
  }

  function rest(rested: Worker, language: string): void {
    grammars.add(language);
    rested.unref();
    idle = setTimeout(() => end(rested), idleMs).unref();
  }

  function end(ended: Worker): void {
    if (worker === ended) worker = undefined;
    void ended.terminate();
  }
}

export function toJson({ words, ...file }: ParsedFile): string {
  return JSON.stringify({ ...file, words: [...words] });
}

export function fromJson(json: string): ParsedFile {
  const { words, ...file } = JSON.parse(json);
  return { ...file, words: new Map(words) };
}

/** Returns `undefined` if the worker does not answer in time. */
function answerOf(worker: Worker, question: ParseQuestion, limitMs: number): Promise<ParseAnswer | undefined> {
  const { promise, resolve } = Promise.withResolvers<ParseAnswer | undefined>();
  const crashed = () => resolve({ failed: 'crashed', isSpent: true });
  const timer = setTimeout(resolve, limitMs, undefined);
  worker.once('message', resolve).once('exit', crashed);
  worker.postMessage(question);
  return promise.finally(() => {
    clearTimeout(timer);
    worker.off('message', resolve).off('exit', crashed);
  });
}
