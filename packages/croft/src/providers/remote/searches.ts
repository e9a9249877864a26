import { AppError } from '@croft/protocol';
import type { RunningSearch, SearchBox, SearchCommand } from '../../core/content/search/search-box.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import { startSearch } from '../../link/methods/sandbox.ts';
import type { RpcClient } from './rpc/rpc-client.ts';
import { toExit, toOutputs } from './start-remote-program.ts';

/** Each search is one call. The runner opens and closes the search boxes. */
export function createRemoteSearches(rpc: RpcClient, handle: string): Workspace['withSearchBox'] {
  const closed = rpc.lost.then(() => {});
  return async (work) => {
    let gone: AppError | undefined;
    const start = (command: SearchCommand): RunningSearch => {
      const searching = startIn(rpc, handle, command);
      searching.exit.catch((thrown) => {
        if (AppError.is(thrown) && thrown.code !== 'E_CANCELLED') gone ??= thrown;
      });
      return searching;
    };
    const box: SearchBox = { start, closed, close: async () => {} };
    try {
      return await work(box);
    } catch (thrown) {
      // Opening a local box would have thrown this error.
      throw gone?.code === 'E_WORKSPACE_GONE' || gone?.code === 'E_RUNNER_LOST' ? gone : thrown;
    }
  };
}

function startIn(rpc: RpcClient, handle: string, { argv, signal, withTimes }: SearchCommand): RunningSearch {
  signal.throwIfAborted();
  const [program, ...args] = argv;
  const asked = rpc.begin(startSearch, { place: handle, argv: [program, ...args], withTimes });
  const kill = () => asked.sendMessage({ type: 'kill' });
  signal.addEventListener('abort', kill, { once: true });
  asked.finished.addEventListener('abort', () => signal.removeEventListener('abort', kill), { once: true });
  const exit = asked.answer.then(({ end }) => toExit(end, startSearch.name));
  exit.catch(() => {});
  return { ...toOutputs(asked), exit, kill };
}
