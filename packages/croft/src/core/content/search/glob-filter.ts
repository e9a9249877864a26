import { AppError } from '@croft/protocol';
import { createTurns } from '../../../lib/concurrency/turns.ts';
import { createWorkerThread } from '../../../lib/concurrency/worker-thread.ts';
import { compileGlobFrom, type GlobBase } from './compile-glob-from.ts';
import type { GlobAnswer, GlobQuestion } from './glob-worker.ts';

/** A pattern counts as slow after this total time and this time per path, ten times that of an ordinary one. */
const maxMsOnThisThread = 10;
const maxMsPerPath = 0.01;

const thread = createWorkerThread<GlobQuestion, GlobAnswer>(new URL('./glob-worker.ts', import.meta.url));
let searches = 0;

interface GlobFilter {
  /** Tests one path on this thread. */
  isWanted(path: string): boolean;
  /** Returns the matching items. Throws `E_BAD_PATTERN` if all of them together take too many steps. */
  keep<Item extends { readonly path: string }>(items: readonly Item[]): Promise<Item[]>;
}

/** Tests many paths in turns with other work. A slow pattern continues in another thread. */
export function createGlobFilter(base: GlobBase, pattern: string, argument: string): GlobFilter {
  const isWanted = compileGlobFrom(base, pattern, argument);
  const search = ++searches;
  let [spentMs, tested] = [0, 0];

  return {
    isWanted,
    async keep(items) {
      const { kept, rest } = await keepHere(items);
      if (rest.length === 0) return kept;
      const paths = rest.map(({ path }) => path);
      const answer = await thread.ask({ search, base, pattern, argument, paths });
      if ('refused' in answer) throw new AppError(answer.refused.code, answer.refused.message, answer.refused);
      return [...kept, ...rest.filter((_, index) => answer.matches[index])];
    },
  };

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
