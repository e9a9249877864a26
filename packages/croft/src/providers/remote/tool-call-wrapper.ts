import type { WorkspaceCall, WrapCall } from '../../core/workspace/workspace.ts';
import { WrapState, wrapToolCall } from '../../link/methods/workspace.ts';
import type { RpcCall, RpcClient } from './rpc/rpc-client.ts';
import { invalidAnswer } from './rpc/runner-errors.ts';

interface CallWrapperOptions {
  /** Whether others change the workspace too, so that their changes have to be fetched before a read. */
  readonly isShared: boolean;
  /** Whether the runner knows the ids of calls. Runners of older releases refuse them. */
  readonly knowsIds: boolean;
}

/**
 * Wraps calls on the runner, which fetches others' changes, records history and stores the result. Each of these may
 * take long.
 */
export function createRemoteToolCallWrapper(
  rpc: RpcClient,
  handle: string,
  { isShared, knowsIds }: CallWrapperOptions,
): WrapCall {
  const begin = ({ id, tool, access, session, title, byproducts, signal }: WorkspaceCall, until?: AbortSignal) => {
    const call = { ...(knowsIds && { id }), tool, access, session, title, ...(byproducts && { byproducts }) };
    return rpc.begin(wrapToolCall, { place: handle, call }, { signal: until ?? signal });
  };

  return async (call, work) => {
    if (call.access !== 'read') return change(call, work);
    if (isShared) await begin(call).answer;
    return work();
  };

  async function change<T>(call: WorkspaceCall, work: () => Promise<T>): Promise<T> {
    const giveUp = new AbortController();
    const asked = begin(call, giveUp.signal);
    await begun(asked, call.signal, giveUp);
    try {
      const result = await work();
      asked.sendMessage({ order: 'done' });
      await asked.answer;
      return result;
    } catch (thrown) {
      // Changes of the call before its failure are still stored, whether or not its caller waits.
      asked.sendMessage({ order: 'failed' });
      await asked.answer.catch(() => {});
      throw thrown;
    }
  }
}

/**
 * Waits until the runner has begun. Before that the caller can cancel and nothing has happened; after that the call is
 * always stored.
 */
async function begun(asked: RpcCall<null>, signal: AbortSignal, giveUp: AbortController): Promise<void> {
  const started = Promise.withResolvers<void>();
  asked.listen(WrapState, () => started.resolve());
  asked.answer.then(() => started.reject(invalidAnswer(asked.method, 'it ended before it began')), started.reject);
  const leave = () => giveUp.abort(signal.reason);
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave, { once: true });
  await started.promise.finally(() => signal.removeEventListener('abort', leave));
}
