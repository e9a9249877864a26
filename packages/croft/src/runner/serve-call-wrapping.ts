import { AppError } from '@croft/protocol';
import type { RunnerWorkspace } from '../core/runner-workspaces/runner-workspace.ts';
import type { WrapCall } from '../core/workspace/workspace.ts';
import type { ServedCall } from '../link/calls/peer.ts';
import { WrapOrder, wrapToolCall } from '../link/methods/workspace.ts';
import {
  type LinkHandlers,
  listen,
  mustBeWritable,
  type ServedWorkspaces,
  serveMethod,
  untilAborted,
} from './serve-helpers.ts';

/** Serves the wrapping of calls: fetching, history and storing happen here, while the server runs the call itself. */
export function serveCallWrapping(workspaces: ServedWorkspaces): LinkHandlers {
  return serveMethod(wrapToolCall, async ({ place: handle, call: about }, call) => {
    const workspace = workspaces.get(handle);
    if (about.access !== 'read') mustBeWritable(workspace);
    const around = mustHave(workspace);
    const ended = about.access === 'read' ? async () => {} : untilEnded(call);
    await around({ ...about, signal: call.signal }, ended);
    return null;
  });
}

/**
 * Waits until the server says that the call ended, or until it no longer can. Everything that was changed until then
 * belongs to the call.
 */
function untilEnded(call: ServedCall): () => Promise<void> {
  const over = Promise.withResolvers<void>();
  over.promise.catch(() => {});
  listen(call, WrapOrder, ({ order }) => {
    if (order === 'done') over.resolve();
    else over.reject(new AppError('E_CANCELLED', 'the call itself failed'));
  });
  return async () => {
    call.sendMessage({ state: 'begun' });
    await Promise.race([over.promise, untilAborted(call.signal)]);
  };
}

function mustHave({ wrapCall }: RunnerWorkspace): WrapCall {
  if (wrapCall) return wrapCall;
  throw new AppError('E_NOT_FOUND', 'calls to this workspace need no wrapping here');
}
