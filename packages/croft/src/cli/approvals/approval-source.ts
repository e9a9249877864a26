import type { Approval } from '@croft/protocol';
import type { ApprovalEvent, Croft } from '@croft/sdk';

/** How a person decides. */
export interface ApprovalDecision {
  readonly decision: 'approve' | 'deny';
  readonly reason?: string | undefined;
  readonly scope?: 'once' | 'session' | undefined;
}

/** The approvals of a server, or those in the data directory of this machine. */
export interface ApprovalSource extends AsyncDisposable {
  list(state?: 'pending'): Promise<readonly Approval[]>;
  get(approvalId: string): Promise<Approval>;
  decide(approvalId: string, decision: ApprovalDecision): Promise<Approval>;
  /** Yields the approvals that wait now, and then every change of an approval, until the signal aborts. */
  watch(signal: AbortSignal): AsyncIterable<ApprovalEvent>;
}

export function toServerSource({ client, approvals }: Croft): ApprovalSource {
  return {
    list: (state) => Array.fromAsync(client.approvals.all({ state })),
    get: (approvalId) => client.approvals.get(approvalId),
    decide: (approvalId, { decision, reason, scope }) =>
      decision === 'approve'
        ? client.approvals.approve(approvalId, { reason, scope })
        : client.approvals.deny(approvalId, { reason }),
    watch: (signal) => approvals.watch({ signal }),
    [Symbol.asyncDispose]: async () => {},
  };
}
