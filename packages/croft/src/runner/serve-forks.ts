import { AppError } from '@croft/protocol';
import type { RunnerForks } from '../core/runner-workspaces/runner-workspace.ts';
import * as methods from '../link/methods/forks.ts';
import { answerChannel } from '../link/methods/history.ts';
import { answerJson, type LinkHandlers, mustBeWritable, type ServedWorkspaces, serveMethod } from './serve-helpers.ts';

export function serveForks(workspaces: ServedWorkspaces): LinkHandlers {
  const of = (handle: string): RunnerForks => {
    const { forks } = mustBeWritable(workspaces.get(handle));
    if (forks) return forks;
    throw new AppError('E_NOT_FOUND', 'this workspace cannot be forked here');
  };
  return {
    ...serveMethod(methods.createFork, ({ place: handle, ...request }, call) => of(handle).fork(request, call.signal)),
    ...serveMethod(methods.listForks, async ({ place: handle }, call) =>
      answerJson(call, answerChannel, await of(handle).list()),
    ),
    ...serveMethod(methods.mergeFork, async ({ place: handle, ...wanted }, call) =>
      answerJson(call, answerChannel, await of(handle).merge({ ...wanted, signal: call.signal })),
    ),
    ...serveMethod(methods.forgetFork, async ({ place: handle, name }) => {
      await of(handle).forget(name);
      return null;
    }),
  };
}
