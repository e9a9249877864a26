import type { OfferedForks } from '../../core/runners/offer.ts';
import * as methods from '../../link/methods/forks.ts';
import type { Asking } from './asking.ts';
import { createAskHistory } from './history.ts';
import { nonsense } from './nonsense.ts';

/** Forks that a runner makes of a workspace, beside it. */
export function createRemoteForks(asking: Asking, place: string): OfferedForks {
  const ask = createAskHistory(asking);
  return {
    async fork(wish, signal) {
      const made = await asking.ask(methods.createFork, { place, ...wish }, { signal, deadlineMs: null });
      if (made.workspaceId !== wish.workspaceId || made.name !== wish.name)
        throw nonsense(methods.createFork.name, 'another fork than was asked for');
      return made;
    },
    list: () => ask(methods.listForks, { place }, methods.ForkList),
    merge: ({ signal, ...wanted }) => ask(methods.mergeFork, { place, ...wanted }, methods.Merged, signal),
    async forget(name) {
      await asking.ask(methods.forgetFork, { place, name });
    },
  };
}
