import { AppError } from '@croft/protocol';
import type { SearchBox, SearchCommand, Searching } from '../../core/content/search-box.ts';
import type { Workspace } from '../../core/workspace.ts';
import { startSearch } from '../../link/methods/sandbox.ts';
import type { Asking } from './asking.ts';
import { toExit, toOutputs } from './program.ts';

/** Boxes are the runner's affair: each search is one call there, and there is nothing to open or to close here. */
export function createRemoteSearches(asking: Asking, place: string): Workspace['withSearchBox'] {
  const closed = asking.lost.then(() => {});
  return async (work) => {
    let gone: AppError | undefined;
    const start = (command: SearchCommand): Searching => {
      const searching = startIn(asking, place, command);
      searching.exit.catch((thrown) => {
        if (AppError.is(thrown) && thrown.code !== 'E_CANCELLED') gone ??= thrown;
      });
      return searching;
    };
    const box: SearchBox = { start, closed, close: async () => {} };
    try {
      return await work(box);
    } catch (thrown) {
      // What opening a box would have said, in its own words.
      throw gone?.code === 'E_WORKSPACE_GONE' || gone?.code === 'E_RUNNER_LOST' ? gone : thrown;
    }
  };
}

function startIn(asking: Asking, place: string, { argv, signal, withTimes }: SearchCommand): Searching {
  signal.throwIfAborted();
  const [program, ...args] = argv;
  const asked = asking.begin(startSearch, { place, argv: [program, ...args], withTimes });
  const kill = () => asked.tell({ type: 'kill' });
  signal.addEventListener('abort', kill, { once: true });
  asked.settled.addEventListener('abort', () => signal.removeEventListener('abort', kill), { once: true });
  const exit = asked.answer.then(({ end }) => toExit(end, startSearch.name));
  exit.catch(() => {});
  return { ...toOutputs(asked), exit, kill };
}
