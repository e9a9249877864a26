import type { Actor } from '../core/accounts/registry.ts';
import type { Gate } from '../core/passage.ts';
import { once } from '../lib/once.ts';
import type { openLocalApprovals } from './local-approvals.ts';

/** The person at this machine, who is no account's. */
export const operator: Actor = { accountId: 'local', label: 'operator', scopes: ['*'] };

/** Opened when somebody first has to agree to something. */
export function createLocalGate(open: () => ReturnType<typeof openLocalApprovals>): Gate {
  const opened = once(open);
  return {
    accountId: operator.accountId,
    agentId: 'flags',
    approvals: {
      async mustBeApproved(call, asker, signal) {
        const { approvals } = await opened();
        await approvals.mustBeApproved(call, asker, signal);
      },
    },
  };
}
