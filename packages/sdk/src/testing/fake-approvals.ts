import type { Approval } from '@croft/protocol';
import { CroftError } from '../errors/croft-error.ts';
import { type FakeState, mustFind } from './fake-state.ts';
import type { FakeTool } from './fake-tools.ts';

export interface AskedCall {
  readonly agentId: string;
  readonly session: string;
  readonly workspace: string;
  readonly tool: FakeTool;
  readonly input: unknown;
  readonly mode: 'ask' | 'edit' | 'bypass';
}

const hourMs = 3_600_000;

export function needsApproval({ mode, tool }: Pick<AskedCall, 'mode' | 'tool'>): boolean {
  return (mode === 'ask' && tool.access !== 'read') || (mode === 'edit' && tool.access === 'execute');
}

/** The approval that the call has, or a new one. */
export function requestApproval(state: FakeState, { agentId, session, workspace, tool, input }: AskedCall): Approval {
  const hash = JSON.stringify([agentId, session, workspace, tool.name, input]);
  const known = [...state.approvals.values()].findLast((one) => one.hash === hash && one.state !== 'used');
  if (known) return known;
  const approval: Approval = {
    ...{ approvalId: state.newId('ap'), agentId, session, tool: tool.name, workspace, input, hash },
    ...{ preview: JSON.stringify(input, null, 2), state: 'pending', scope: 'once', createdAt: state.now() },
    expiresAt: new Date(state.clock.now().getTime() + hourMs).toISOString(),
  };
  state.approvals.set(approval.approvalId, approval);
  state.log('approval.requested', approval.approvalId);
  return approval;
}

/** Throws unless the call may run. Uses the approval up. Returns the approval that the call waits for. */
export function claimApproval(state: FakeState, call: AskedCall, claimed: string | null): Approval | undefined {
  const approval = requestApproval(state, call);
  if (claimed !== null && approval.approvalId !== claimed)
    throw new CroftError('E_APPROVAL_MISMATCH', 'that is not an approval of this call');
  const { approvalId, reason } = approval;
  if (approval.state === 'pending') return approval;
  if (approval.state === 'denied') {
    state.approvals.set(approvalId, { ...approval, state: 'used' });
    const why = reason === undefined ? '' : `: ${reason}`;
    const details = { approvalId, ...(reason !== undefined && { reason }) };
    throw new CroftError('E_APPROVAL_DENIED', `a person denied this call${why}`, { details });
  }
  if (approval.scope === 'once') state.approvals.set(approvalId, { ...approval, state: 'used' });
  state.log('approval.used', approvalId);
  return undefined;
}

export interface FakeDecision {
  readonly decision: 'approve' | 'deny';
  readonly reason?: string | undefined;
  readonly scope?: 'once' | 'session' | undefined;
}

export function decide(state: FakeState, id: string, { decision, reason, scope = 'once' }: FakeDecision): Approval {
  const approval = mustFind(state.approvals, id, 'Approval');
  if (approval.state !== 'pending') throw new CroftError('E_APPROVAL_SETTLED', `the approval is ${approval.state}`);
  const decided: Approval = {
    ...approval,
    ...{ state: decision === 'approve' ? 'approved' : 'denied', scope, decidedAt: state.now(), decidedBy: 'test' },
    ...(reason !== undefined && { reason }),
  };
  state.approvals.set(id, decided);
  state.log(decision === 'approve' ? 'approval.approved' : 'approval.denied', id);
  return decided;
}
