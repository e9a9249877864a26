import { AppError } from '@croft/protocol';
import type { z } from 'zod';
import { jsonBytes } from '../core/answers/json-size.ts';
import type { History, HistoryCall } from '../core/history/ports/history.ts';
import type { RunnerWorkspace } from '../core/runner-workspaces/runner-workspace.ts';
import type { ServedCall } from '../link/calls/peer.ts';
import * as methods from '../link/methods/history.ts';
import { maxJsonBytes } from '../link/transport/limits.ts';
import {
  answerJson,
  type LinkHandlers,
  listen,
  mustBeWritable,
  type ServedWorkspaces,
  serveMethod,
  untilAborted,
} from './handler-helpers.ts';

const { answerChannel } = methods;
/** The answer has to fit into one message of the link. */
const maxAlteredBytes = maxJsonBytes / 2;

export function serveHistory(workspaces: ServedWorkspaces): LinkHandlers {
  const of = (place: string) => mustHave(workspaces.get(place));
  const changing = (place: string) => mustHave(mustBeWritable(workspaces.get(place)));
  const answer = async (call: ServedCall, value: Promise<unknown>) => answerJson(call, answerChannel, await value);
  return {
    ...serveMethod(methods.takeSnapshot, ({ place, ...wanted }, call) =>
      answer(call, of(place).snapshot({ ...wanted, signal: call.signal } as Parameters<History['snapshot']>[0])),
    ),
    ...serveMethod(methods.listSnapshots, ({ place }, call) => answer(call, of(place).snapshots())),
    ...serveMethod(methods.diffSnapshots, ({ place, from, to }, call) =>
      answer(call, of(place).diff({ from, to, signal: call.signal })),
    ),
    ...serveMethod(methods.restoreSnapshot, ({ place, target }, call) =>
      answer(call, changing(place).restore(target, call.signal)),
    ),
    ...serveMethod(methods.removeSnapshot, async ({ place, name }) => {
      await changing(place).remove(name);
      return null;
    }),
    ...serveMethod(methods.listCheckpoints, ({ place, limit }, call) => answer(call, of(place).checkpoints(limit))),
    ...serveMethod(methods.undoCalls, ({ place, what }, call) => answer(call, changing(place).undo(what, call.signal))),
    ...serveMethod(methods.captureTree, async ({ place }) => (await of(place).captureSource()) ?? null),
    ...serveMethod(methods.recordVerdict, async ({ place, check, of: root }) => {
      await of(place).recordVerdict(check, root);
      return null;
    }),
    ...serveMethod(methods.recordCall, ({ place, call: recorded }, call) => record(of(place), recorded, call)),
    ...serveMethod(methods.recordCheck, ({ place, call: recorded }, call) => check(of(place), recorded, call)),
    ...serveMethod(methods.revertChanges, async ({ place, changes }) => ({
      stayed: [...(await changing(place).revertChanges(changes))],
    })),
  };
}

/**
 * Records a call of the server. Everything that is changed until the server says it is over, or no longer can, belongs
 * to the call.
 */
function record(history: History, recorded: HistoryCall, call: ServedCall): Promise<null> {
  return history.record(recorded, untilOver(call));
}

type Checked = z.output<typeof methods.recordCheck.answer>;

async function check(history: History, recorded: HistoryCall, call: ServedCall): Promise<Checked> {
  const { altered, unverified } = await history.recordCheck(recorded, untilOver(call));
  const isTooMuch = altered.length > methods.maxAltered || jsonBytes(altered) > maxAlteredBytes;
  return isTooMuch ? { altered: [], unverified: 'crowded' } : { altered: [...altered], unverified };
}

function untilOver(call: ServedCall): () => Promise<null> {
  const over = Promise.withResolvers<void>();
  listen(call, methods.RecordOrder, () => over.resolve());
  return async () => {
    call.sendMessage({ state: 'begun' });
    await Promise.race([over.promise, untilAborted(call.signal)]);
    return null;
  };
}

function mustHave({ history }: RunnerWorkspace): History {
  if (history) return history;
  throw new AppError('E_NOT_FOUND', 'this runner keeps no history of this workspace');
}
