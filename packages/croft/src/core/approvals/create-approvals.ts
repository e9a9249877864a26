import type { ApprovalInbox } from '../accounts/ports/registry.ts';
import { toApprovalView } from './approval-content.ts';
import { type ApprovalEventsOptions, createApprovalEvents } from './approval-events.ts';
import { createApprovalInbox } from './approval-inbox.ts';
import { type ApprovalOutcome, toRefusal } from './approval-outcome.ts';
import type { Approvals, Decision } from './approvals.ts';
import { claimApproval } from './claim-approval.ts';
import { type HashedCall, hashCall } from './hash-call.ts';
import { createRecordChangeWaiter, type PollOptions } from './record-change-waiter.ts';
import { type ApprovalKey, createRecordDecision } from './record-decision.ts';
import { createRequestApproval, type RequestApprovalOptions } from './request-approval.ts';
import { createWaitForDecision, toRequired, type WaitingCall } from './wait-for-decision.ts';

export interface ApprovalsOptions extends RequestApprovalOptions, ApprovalEventsOptions {
  /** How often to poll for decisions of other servers. Decisions of this server are noticed at once. */
  readonly polls?: PollOptions | undefined;
}

/**
 * Creates the operations of calls and of people on approvals. All state is in the records, so that any server can
 * decide what another one asks.
 */
export function createApprovals(options: ApprovalsOptions): {
  approvals: Approvals;
  approvalInbox: ApprovalInbox;
  /** Makes waiting calls look up their approval at once, because another server has recorded a decision. */
  wake(approvalId: string): void;
} {
  const { records, vault, now } = options;
  const { request, ask } = createRequestApproval(options);
  const recordDecision = createRecordDecision(records, now);
  const events = createApprovalEvents(options);
  const waits = createRecordChangeWaiter(options.polls);
  const waitForDecision = createWaitForDecision({ records, vault, now, waits, decide });
  return {
    approvals: { mustBeApproved },
    approvalInbox: createApprovalInbox({ records, vault, now, decide }),
    wake: waits.wake,
  };

  async function mustBeApproved(...[call, asker, signal]: Parameters<Approvals['mustBeApproved']>): Promise<void> {
    const bound = hashCall(call);
    if (asker.onlyAsks) return tellApproval(bound);
    const giveUpAt = performance.now() + asker.waitMs;
    let { approvalId } = asker;
    for (;;) {
      signal.throwIfAborted();
      const outcome = await claimOrRequest(bound, approvalId);
      if (outcome.kind === 'run') return events.used(outcome.row);
      approvalId = await goOn(outcome, { asker, signal, giveUpAt });
    }
  }

  /** Requests the approval if there is none, and throws `E_APPROVAL_REQUIRED` with its current state. */
  async function tellApproval(call: HashedCall): Promise<never> {
    const { row, isNew } = await ask(call);
    if (isNew) events.requested(row);
    throw row.state === 'denied' ? toRefusal({ kind: 'denied', row }) : toRequired(toApprovalView(vault, row));
  }

  /** Waits or throws. Resolves with the id of the approval to check next. */
  async function goOn(outcome: ApprovalOutcome, waiting: WaitingCall): Promise<string | undefined> {
    if (outcome.kind === 'pending') {
      await waitForDecision(outcome.row, waiting);
      return outcome.row.approvalId;
    }
    // An identical call was faster and used the approval that both waited for: this call has to request a new one.
    if (outcome.kind === 'used' && waiting.asker.approvalId === undefined) return undefined;
    throw toRefusal(outcome);
  }

  async function claimOrRequest(call: HashedCall, approvalId: string | undefined): Promise<ApprovalOutcome> {
    const found = await records.change((tables) => claimApproval(tables, call, approvalId, now()));
    if (found.kind !== 'none') return found;
    const { outcome, isNew } = await request(call);
    if (isNew && outcome.kind === 'pending') events.requested(outcome.row);
    return outcome;
  }

  async function decide(key: ApprovalKey, decision: Decision, by: string) {
    const decided = await recordDecision(key, decision, by);
    if (decided.row && decided.isNew) events.decided(decided.row);
    waits.wake(key.approvalId);
    return decided;
  }
}
