import type { Transactions } from '../../core/history/transactions.ts';
import type { WantedSandbox } from '../../core/runners/offer.ts';
import { maxListBytes } from '../../link/methods/files.ts';
import * as methods from '../../link/methods/history.ts';
import type { Asking } from './asking.ts';
import { createAskHistory } from './history.ts';
import { toSandbox } from './sandbox.ts';

const { answerChannel } = methods;

/** Commands on a copy that the runner makes, and keeps or throws away. */
export function createRemoteTransactions(asking: Asking, place: string, wanted: WantedSandbox): Transactions {
  const ask = createAskHistory(asking);
  const of = (session: string) => ({ place, ...wanted, session });
  return {
    async begin(session, title, work, signal) {
      const asked = asking.begin(methods.beginTransaction, { ...of(session), title }, { signal, idleMs: null });
      const answer = asked.withJson(answerChannel, maxListBytes, methods.TransactionShown);
      answer.catch(() => {});
      const sandbox = await toSandbox(asking, asked);
      try {
        const result = await work(sandbox);
        asked.tell({ type: 'end' });
        return { result, transaction: await answer };
      } catch (thrown) {
        asked.tell({ type: 'give-up' });
        await answer.catch(() => {});
        throw thrown;
      }
    },
    commit: (session, id, signal) => ask(methods.commitTransaction, { ...of(session), id }, methods.TreeReport, signal),
    async discard(session, id) {
      await asking.ask(methods.discardTransaction, { ...of(session), id });
    },
    list: (session) => ask(methods.listTransactions, of(session), methods.Transactions),
  };
}
