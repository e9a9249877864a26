import type { ApprovalDesk } from '../accounts/registry.ts';
import type { Approvals, Decision } from './approvals.ts';
import { type BoundCall, bind } from './bound-call.ts';
import { claim } from './claims.ts';
import { createDesk } from './desk.ts';
import { createGetDecided, type Waiting } from './get-decided.ts';
import { type Outcome, toRefusal } from './outcome.ts';
import { createRequest, type RequestOptions } from './request.ts';
import { type ApprovalKey, createSettle } from './settle.ts';
import { createTelling, type TellOptions } from './tell.ts';
import { createWaits, type PollOptions } from './waits.ts';

export interface ApprovalsOptions extends RequestOptions, TellOptions {
  /** For what another server decides; what this one decides is heard of at once. */
  readonly polls?: PollOptions | undefined;
}

/**
 * Approvals as records: what calls do with them, and what people do. Everything that counts is in the records, so that
 * any server may decide what another asks.
 */
export function createApprovals(options: ApprovalsOptions): { approvals: Approvals; desk: ApprovalDesk } {
  const { records, vault, now } = options;
  const request = createRequest(options);
  const settle = createSettle(records, now);
  const tell = createTelling(options);
  const waits = createWaits(options.polls);
  const getDecided = createGetDecided({ records, vault, now, waits, decide });
  return { approvals: { mustBeApproved }, desk: createDesk({ records, vault, now, decide }) };

  async function mustBeApproved(...[call, asker, signal]: Parameters<Approvals['mustBeApproved']>): Promise<void> {
    const bound = bind(call);
    const giveUpAt = performance.now() + asker.waitMs;
    let { approvalId } = asker;
    for (;;) {
      signal.throwIfAborted();
      const outcome = await claimOrRequest(bound, approvalId);
      if (outcome.kind === 'run') return tell.used(outcome.row);
      approvalId = await goOn(outcome, { asker, signal, giveUpAt });
    }
  }

  /** Answers which approval to look at next. */
  async function goOn(outcome: Outcome, waiting: Waiting): Promise<string | undefined> {
    if (outcome.kind === 'pending') {
      await getDecided(outcome.row, waiting);
      return outcome.row.approvalId;
    }
    // Another call just like this one was quicker, and took what both had waited for: this one has to ask anew.
    if (outcome.kind === 'used' && waiting.asker.approvalId === undefined) return undefined;
    throw toRefusal(outcome);
  }

  async function claimOrRequest(call: BoundCall, approvalId: string | undefined): Promise<Outcome> {
    const found = await records.change((tables) => claim(tables, call, approvalId, now()));
    if (found.kind !== 'none') return found;
    const { outcome, isNew } = await request(call);
    if (isNew && outcome.kind === 'pending') tell.requested(outcome.row);
    return outcome;
  }

  async function decide(key: ApprovalKey, decision: Decision, by: string) {
    const settled = await settle(key, decision, by);
    if (settled.row && settled.isNew) tell.decided(settled.row);
    waits.wake(key.approvalId);
    return settled;
  }
}
