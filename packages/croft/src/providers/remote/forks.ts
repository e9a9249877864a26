import type { RunnerForks } from '../../core/runner-workspaces/runner-workspace.ts';
import * as methods from '../../link/methods/forks.ts';
import { createHistoryCaller } from './history.ts';
import type { RpcClient } from './rpc/rpc-client.ts';
import { invalidAnswer } from './rpc/runner-errors.ts';

/** Forks of a workspace, which the runner makes and keeps beside it. */
export function createRemoteForks(rpc: RpcClient, handle: string): RunnerForks {
  const ask = createHistoryCaller(rpc);
  return {
    async fork(request, signal) {
      const made = await rpc.ask(methods.createFork, { place: handle, ...request }, { signal, deadlineMs: null });
      if (made.workspaceId !== request.workspaceId || made.name !== request.name)
        throw invalidAnswer(methods.createFork.name, 'another fork than was asked for');
      return made;
    },
    list: () => ask(methods.listForks, { place: handle }, methods.ForkList),
    merge: ({ signal, ...wanted }) => ask(methods.mergeFork, { place: handle, ...wanted }, methods.Merged, signal),
    async forget(name) {
      await rpc.ask(methods.forgetFork, { place: handle, name });
    },
  };
}
