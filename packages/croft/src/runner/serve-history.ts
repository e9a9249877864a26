import { AppError } from '@croft/protocol';
import type { History } from '../core/history/history.ts';
import type { OfferedWorkspace } from '../core/runners/offer.ts';
import * as methods from '../link/methods/history.ts';
import type { Incoming } from '../link/peer.ts';
import {
  answerJson,
  type Handlers,
  listen,
  mustBeWritable,
  type Places,
  serving,
  untilAborted,
} from './serve-means.ts';

const { answerChannel } = methods;

export function serveHistory(places: Places): Handlers {
  const of = (place: string) => mustHave(places.get(place));
  const changing = (place: string) => mustHave(mustBeWritable(places.get(place)));
  const answer = async (call: Incoming, value: Promise<unknown>) => answerJson(call, answerChannel, await value);
  return {
    ...serving(methods.takeSnapshot, ({ place, ...wanted }, call) =>
      answer(call, of(place).snapshot({ ...wanted, signal: call.signal } as Parameters<History['snapshot']>[0])),
    ),
    ...serving(methods.listSnapshots, ({ place }, call) => answer(call, of(place).snapshots())),
    ...serving(methods.diffSnapshots, ({ place, from, to }, call) =>
      answer(call, of(place).diff({ from, to, signal: call.signal })),
    ),
    ...serving(methods.restoreSnapshot, ({ place, target }, call) =>
      answer(call, changing(place).restore(target, call.signal)),
    ),
    ...serving(methods.removeSnapshot, async ({ place, name }) => {
      await changing(place).remove(name);
      return null;
    }),
    ...serving(methods.listCheckpoints, ({ place, limit }, call) => answer(call, of(place).checkpoints(limit))),
    ...serving(methods.undoCalls, ({ place, what }, call) => answer(call, changing(place).undo(what, call.signal))),
    ...serving(methods.lookAtTree, async ({ place }) => (await of(place).look()) ?? null),
    ...serving(methods.learnCheck, async ({ place, check, of: root }) => {
      await of(place).learned(check, root);
      return null;
    }),
    ...serving(methods.recordCall, ({ place, call: recorded }, call) => record(of(place), recorded, call)),
  };
}

/** What was changed until it is over, or nobody can say any more that it is, is the call's. */
async function record(history: History, recorded: Parameters<History['record']>[0], call: Incoming): Promise<null> {
  const over = Promise.withResolvers<void>();
  listen(call, methods.RecordOrder, () => over.resolve());
  return history.record(recorded, async () => {
    call.tell({ state: 'begun' });
    await Promise.race([over.promise, untilAborted(call.signal)]);
    return null;
  });
}

function mustHave({ history }: OfferedWorkspace): History {
  if (history) return history;
  throw new AppError('E_NOT_FOUND', 'nothing of what this workspace was is kept here');
}
