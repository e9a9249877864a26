import { AppError } from '@croft/protocol';
import { createTurns } from '../../../lib/concurrency/turns.ts';
import { createWorkerThread } from '../../../lib/concurrency/worker-thread.ts';
import { compileGlobFrom, type GlobBase } from './compile-glob-from.ts';
import type { GlobAnswer, GlobQuestion } from './glob-worker.ts';

/** A pattern counts as slow after this total time and this time per path, ten times that of an ordinary one. */
const maxMsOnThisThread = 4;
const maxMsPerPath = 0.01;
/** Ordinary patterns have fewer. A thousand alternatives take this thread up to 10 ms to compile, for every search. */
const maxChoicesOnThisThread = 12;

const thread = createWorkerThread<GlobQuestion, GlobAnswer>(new URL('./glob-worker.ts', import.meta.url));
let searches = 0;

interface GlobFilter {
  /** Tests one path on this thread. */
  isWanted(path: string): boolean;
  /** Returns the matching items. Throws `E_BAD_PATTERN` if all of them together take too many steps. */
  keep<Item extends { readonly path: string }>(items: readonly Item[]): Promise<Item[]>;
}

/**
 * Tests many paths in turns with other work. A slow pattern continues in another thread, and one with many alternatives
 * is compiled there. Throws `E_BAD_PATTERN`.
 */
export async function createGlobFilter(base: GlobBase, pattern: string, argument: string): Promise<GlobFilter> {
  const search = ++searches;
  const isLong = countChoices(pattern) > maxChoicesOnThisThread;
  let test = isLong ? undefined : compileGlobFrom(base, pattern, argument);
  if (isLong) await askThread([]);
  let [spentMs, tested] = [0, 0];

  return {
    isWanted,
    async keep(items) {
      const { kept, rest } = isLong ? { kept: [], rest: items } : await keepHere(items);
      if (rest.length === 0) return kept;
      const matches = await askThread(rest.map(({ path }) => path));
      return [...kept, ...rest.filter((_, index) => matches[index])];
    },
  };

  function isWanted(path: string): boolean {
    test ??= compileGlobFrom(base, pattern, argument);
    return test(path);
  }

  async function askThread(paths: readonly string[]): Promise<readonly boolean[]> {
    const answer = await thread.ask({ search, base, pattern, argument, paths });
    if ('refused' in answer) throw new AppError(answer.refused.code, answer.refused.message, answer.refused);
    return answer.matches;
  }

  /** Tests as many items as this thread has time for. */
  async function keepHere<Item extends { readonly path: string }>(items: readonly Item[]) {
    const turn = createTurns();
    const kept: Item[] = [];
    let began = performance.now();
    for (const [index, item] of items.entries()) {
      if (isSlow()) return { kept, rest: items.slice(index) };
      const wait = turn();
      if (wait) {
        spentMs += performance.now() - began;
        await wait;
        began = performance.now();
      }
      tested++;
      if (isWanted(item.path)) kept.push(item);
    }
    spentMs += performance.now() - began;
    return { kept, rest: [] };
  }

  function isSlow(): boolean {
    return spentMs > maxMsOnThisThread && spentMs > tested * maxMsPerPath;
  }
}

/** Roughly how many alternatives the braces of a pattern have. A range may have as many as are allowed. */
function countChoices(pattern: string): number {
  return /\{-?\d+\.\./.test(pattern) ? Number.POSITIVE_INFINITY : pattern.split(/[{,]/).length - 1;
}
