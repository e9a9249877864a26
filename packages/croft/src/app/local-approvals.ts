import type { Actor } from '../core/accounts/registry.ts';
import { createApprovals } from '../core/approvals/create-approvals.ts';
import type { Emit } from '../core/events.ts';
import type { Gate } from '../core/passage.ts';
import { once } from '../lib/once.ts';
import { openSealedRecords, type SealedOptions } from './open-records.ts';

export interface LocalApprovalsOptions extends Omit<SealedOptions, 'databaseUrl'> {
  readonly emit: Emit;
}

/** The person at this machine, who is no account's. */
export const operator: Actor = { accountId: 'local', label: 'operator', scopes: ['*'] };

const approvalMs = 60 * 60_000;

/** Approvals of workspaces that were given by flags: in the data directory, where `croft approvals` finds them. */
export async function openLocalApprovals({ data, keys, emit }: LocalApprovalsOptions) {
  const { records, vault } = await openSealedRecords({ data, keys });
  const { approvals, desk } = createApprovals({ records, vault, emit, now: () => new Date(), ttlMs: approvalMs });
  return { approvals, desk, close: () => records[Symbol.asyncDispose]() };
}

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
