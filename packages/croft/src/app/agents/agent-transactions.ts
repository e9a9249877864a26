import type { Transactions } from '../../core/history/ports/transactions.ts';

/** Prefixes session names with the agent, because callers choose them: two agents may use the same session name. */
export function ofAgentTransactions(all: Transactions, agentId: string): Transactions {
  const own = (session: string) => `${agentId} ${session}`;
  return {
    begin: (session, ...rest) => all.begin(own(session), ...rest),
    commit: (session, ...rest) => all.commit(own(session), ...rest),
    discard: (session, id) => all.discard(own(session), id),
    list: (session) => all.list(own(session)),
  };
}
