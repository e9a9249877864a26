import { AppError } from '@croft/protocol';
import { BoundedMap } from '../../../lib/bounded-map.ts';
import { answerQuestions, runAfterSandboxes } from '../../../lib/concurrency/worker-thread.ts';
import { compileGlobFrom, type GlobBase } from './compile-glob-from.ts';

export interface GlobQuestion {
  /** The search that the paths belong to: one limit of steps holds for all of its paths together. */
  readonly search: number;
  readonly base: GlobBase;
  readonly pattern: string;
  readonly argument: string;
  readonly paths: readonly string[];
}

/** Whether each path matches. Errors cannot be passed between threads, so their fields are. */
export type GlobAnswer =
  | { readonly matches: readonly boolean[] }
  | { readonly refused: Pick<AppError, 'code' | 'message' | 'details' | 'hint'> };

/** More than searches run at once. The oldest is dropped first. */
const maxSearches = 500;
const tests = new BoundedMap<number, (path: string) => boolean>(maxSearches);

function testOf({ search, base, pattern, argument }: GlobQuestion): (path: string) => boolean {
  const test = tests.get(search) ?? compileGlobFrom(base, pattern, argument);
  tests.set(search, test);
  return test;
}

function answerTo(question: GlobQuestion): GlobAnswer {
  try {
    return { matches: question.paths.map(testOf(question)) };
  } catch (thrown) {
    const { code, message, details, hint } = AppError.from(thrown);
    return { refused: { code, message, details, hint } };
  }
}

runAfterSandboxes();
answerQuestions<GlobQuestion, GlobAnswer>(answerTo);
