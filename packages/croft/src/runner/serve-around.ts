import { AppError } from '@croft/protocol';
import type { OfferedWorkspace } from '../core/runners/offer.ts';
import { AroundOrder, aroundCall } from '../link/methods/workspace.ts';
import type { Incoming } from '../link/peer.ts';
import { type Handlers, listen, mustBeWritable, type Places, serving, untilAborted } from './serve-means.ts';

/** What stands around calls here, while the call itself is made at the other side. */
export function serveAround(places: Places): Handlers {
  return serving(aroundCall, async ({ place, call: about }, call) => {
    const workspace = places.get(place);
    if (about.access !== 'read') mustBeWritable(workspace);
    const around = mustHave(workspace);
    const ended = about.access === 'read' ? async () => {} : untilEnded(call);
    await around({ ...about, signal: call.signal }, ended);
    return null;
  });
}

/** What was changed until it is over, or nobody can say any more that it is, is the call's. */
function untilEnded(call: Incoming): () => Promise<void> {
  const over = Promise.withResolvers<void>();
  over.promise.catch(() => {});
  listen(call, AroundOrder, ({ order }) => {
    if (order === 'done') over.resolve();
    else over.reject(new AppError('E_CANCELLED', 'the call itself failed'));
  });
  return async () => {
    call.tell({ state: 'begun' });
    await Promise.race([over.promise, untilAborted(call.signal)]);
  };
}

function mustHave({ around }: OfferedWorkspace): NonNullable<OfferedWorkspace['around']> {
  if (around) return around;
  throw new AppError('E_NOT_FOUND', 'nothing stands around the calls to this workspace');
}
