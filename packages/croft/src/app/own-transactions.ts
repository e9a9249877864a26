import type { Transactions } from '../core/history/transactions.ts';

/** Sessions are named by whoever calls: those of two agents that have the same name are two. */
export function ofAgent(all: Transactions, agentId: string): Transactions {
  const own = (session: string) => `${agentId} ${session}`;
  return {
    begin: (session, ...rest) => all.begin(own(session), ...rest),
    commit: (session, ...rest) => all.commit(own(session), ...rest),
    discard: (session, id) => all.discard(own(session), id),
    list: (session) => all.list(own(session)),
  };
}
