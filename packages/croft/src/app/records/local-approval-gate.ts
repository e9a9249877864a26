import type { Actor } from '../../core/accounts/ports/registry.ts';
import type { ApprovalGate } from '../../core/calls/run-in-workspace.ts';
import { once } from '../../lib/concurrency/once.ts';
import type { openLocalApprovals } from './local-approvals.ts';

/** The person at this machine, who belongs to no account. */
export const operator: Actor = { accountId: 'local', label: 'operator', scopes: ['*'] };

/** Opens the approvals when the first call needs one. */
export function createLocalApprovalGate(open: () => ReturnType<typeof openLocalApprovals>): ApprovalGate {
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
