import { flagsAgentId, operatorId } from '../../core/accounts/access/operator-ids.ts';
import type { Actor } from '../../core/accounts/ports/registry.ts';
import type { ApprovalGate } from '../../core/calls/get-approval-if-needed.ts';
import type { LocalApprovals } from './local-approvals.ts';

/** The person at this machine, who belongs to no account. */
export const operator: Actor = { accountId: operatorId, label: 'operator', scopes: ['*'] };

/** Opens the approvals when the first call needs one. `opened` is expected to open once. */
export function createLocalApprovalGate(opened: () => Promise<LocalApprovals>): ApprovalGate {
  return {
    accountId: operator.accountId,
    agentId: flagsAgentId,
    approvals: {
      async mustBeApproved(call, asker, signal) {
        const { approvals } = await opened();
        await approvals.mustBeApproved(call, asker, signal);
      },
    },
  };
}
