import { AppError } from '@croft/protocol';
import type { RunnerForks } from '../core/runner-workspaces/runner-workspace.ts';
import * as methods from '../link/methods/forks.ts';
import { answerChannel } from '../link/methods/history.ts';
import {
  answerJson,
  type LinkHandlers,
  mustBeWritable,
  type ServedWorkspaces,
  serveMethod,
} from './handler-helpers.ts';

export function serveForks(workspaces: ServedWorkspaces): LinkHandlers {
  const of = (place: string): RunnerForks => {
    const { forks } = mustBeWritable(workspaces.get(place));
    if (forks) return forks;
    throw new AppError('E_NOT_FOUND', 'this workspace cannot be forked here');
  };
  return {
    ...serveMethod(methods.createFork, ({ place, ...request }, call) => of(place).fork(request, call.signal)),
    ...serveMethod(methods.listForks, async ({ place }, call) =>
      answerJson(call, answerChannel, await of(place).list()),
    ),
    ...serveMethod(methods.mergeFork, async ({ place, ...wanted }, call) =>
      answerJson(call, answerChannel, await of(place).merge({ ...wanted, signal: call.signal })),
    ),
    ...serveMethod(methods.forgetFork, async ({ place, name }) => {
      await of(place).forget(name);
      return null;
    }),
  };
}
