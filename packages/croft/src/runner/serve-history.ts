import { AppError } from '@croft/protocol';
import type { z } from 'zod';
import { jsonBytes } from '../core/answers/json-size.ts';
import type { History, HistoryCall } from '../core/history/ports/history.ts';
import type { RunnerWorkspace } from '../core/runner-workspaces/runner-workspace.ts';
import type { ServedCall } from '../link/calls/peer.ts';
import * as methods from '../link/methods/history.ts';
import { maxJsonBytes } from '../link/transport/link-limits.ts';
import {
  answerJson,
  type LinkHandlers,
  listen,
  mustBeWritable,
  type ServedWorkspaces,
  serveMethod,
  untilAborted,
} from './serve-helpers.ts';

const { answerChannel } = methods;
/** The answer has to fit into one message of the link. */
const maxAlteredBytes = maxJsonBytes / 2;

export function serveHistory(workspaces: ServedWorkspaces): LinkHandlers {
  const of = (handle: string) => mustHave(workspaces.get(handle));
  const changing = (handle: string) => mustHave(mustBeWritable(workspaces.get(handle)));
  const answer = async (call: ServedCall, value: Promise<unknown>) => answerJson(call, answerChannel, await value);
  return {
    ...serveMethod(methods.takeSnapshot, ({ place: handle, ...wanted }, call) =>
      answer(call, of(handle).snapshot({ ...wanted, signal: call.signal } as Parameters<History['snapshot']>[0])),
    ),
    ...serveMethod(methods.listSnapshots, ({ place: handle }, call) => answer(call, of(handle).snapshots())),
    ...serveMethod(methods.diffSnapshots, ({ place: handle, from, to }, call) =>
      answer(call, of(handle).diff({ from, to, signal: call.signal })),
    ),
    ...serveMethod(methods.restoreSnapshot, ({ place: handle, target }, call) =>
      answer(call, changing(handle).restore(target, call.signal)),
    ),
    ...serveMethod(methods.removeSnapshot, async ({ place: handle, name }) => {
      await changing(handle).remove(name);
      return null;
    }),
    ...serveMethod(methods.listCheckpoints, ({ place: handle, limit }, call) =>
      answer(call, of(handle).checkpoints(limit)),
    ),
    ...serveMethod(methods.undoCalls, ({ place: handle, what }, call) =>
      answer(call, changing(handle).undo(what, call.signal)),
    ),
    ...serveMethod(methods.captureTree, async ({ place: handle }) => (await of(handle).captureSource()) ?? null),
    ...serveMethod(methods.recordVerdict, async ({ place: handle, check, of: root }) => {
      await of(handle).recordVerdict(check, root);
      return null;
    }),
    ...serveMethod(methods.recordCall, ({ place: handle, call: recorded }, call) => record(of(handle), recorded, call)),
    ...serveMethod(methods.recordCheck, ({ place: handle, call: recorded }, call) => check(of(handle), recorded, call)),
    ...serveMethod(methods.revertChanges, async ({ place: handle, changes }) => ({
      stayed: [...(await changing(handle).revertChanges(changes))],
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
