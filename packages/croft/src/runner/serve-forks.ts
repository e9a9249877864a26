import { AppError } from '@croft/protocol';
import type { OfferedForks } from '../core/runners/offer.ts';
import * as methods from '../link/methods/forks.ts';
import { answerChannel } from '../link/methods/history.ts';
import { answerJson, type Handlers, mustBeWritable, type Places, serving } from './serve-means.ts';

export function serveForks(places: Places): Handlers {
  const of = (place: string): OfferedForks => {
    const { forks } = mustBeWritable(places.get(place));
    if (forks) return forks;
    throw new AppError('E_NOT_FOUND', 'this workspace cannot be forked here');
  };
  return {
    ...serving(methods.createFork, ({ place, ...wish }, call) => of(place).fork(wish, call.signal)),
    ...serving(methods.listForks, async ({ place }, call) => answerJson(call, answerChannel, await of(place).list())),
    ...serving(methods.mergeFork, async ({ place, ...wanted }, call) =>
      answerJson(call, answerChannel, await of(place).merge({ ...wanted, signal: call.signal })),
    ),
    ...serving(methods.forgetFork, async ({ place, name }) => {
      await of(place).forget(name);
      return null;
    }),
  };
}
