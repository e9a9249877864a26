import type { Transactions } from '../../core/history/ports/transactions.ts';
import type { SandboxRequest } from '../../core/runner-workspaces/runner-workspace.ts';
import { maxListBytes } from '../../link/methods/files.ts';
import * as methods from '../../link/methods/history.ts';
import { createHistoryCaller } from './history.ts';
import type { RpcClient } from './rpc/rpc-client.ts';
import { toRemoteSandbox } from './sandbox.ts';

const { answerChannel } = methods;

/** Runs commands on a copy that the runner makes, and then commits or discards. */
export function createRemoteTransactions(rpc: RpcClient, handle: string, wanted: SandboxRequest): Transactions {
  const ask = createHistoryCaller(rpc);
  const of = (session: string) => ({ place: handle, ...wanted, session });
  return {
    async begin(session, title, work, signal, changes) {
      // Left out if there are no changes, because runners of older releases do not know the field.
      const asBefore = changes && { asBefore: changes.map(methods.toPathChange) };
      const asked = rpc.begin(
        methods.beginTransaction,
        { ...of(session), title, ...asBefore },
        { signal, idleMs: null },
      );
      const answer = asked.withJson(answerChannel, maxListBytes, methods.TransactionShown);
      answer.catch(() => {});
      const sandbox = await toRemoteSandbox(rpc, asked);
      try {
        const result = await work(sandbox);
        asked.sendMessage({ type: 'end' });
        return { result, transaction: await answer };
      } catch (thrown) {
        asked.sendMessage({ type: 'give-up' });
        await answer.catch(() => {});
        throw thrown;
      }
    },
    commit: (session, id, signal) => ask(methods.commitTransaction, { ...of(session), id }, methods.TreeReport, signal),
    async discard(session, id) {
      await rpc.ask(methods.discardTransaction, { ...of(session), id });
    },
    list: (session) => ask(methods.listTransactions, of(session), methods.Transactions),
  };
}
