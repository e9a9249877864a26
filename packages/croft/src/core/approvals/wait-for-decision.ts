import { AppError } from '@croft/protocol';
import type { ApprovalRow } from '../accounts/ports/call-tables.ts';
import type { Records } from '../accounts/ports/records.ts';
import type { ApprovalView } from '../accounts/ports/registry.ts';
import type { Vault } from '../accounts/ports/vault.ts';
import { sessionNameOf } from '../sessions/session-name.ts';
import { toApprovalView } from './approval-content.ts';
import { isExpired, type Now } from './approval-rows.ts';
import type { Asker, Decision } from './approvals.ts';
import type { RecordChangeWaiter } from './record-change-waiter.ts';
import type { ApprovalKey } from './record-decision.ts';

interface WaitForDecisionOptions {
  readonly records: Records;
  readonly vault: Vault;
  readonly now: Now;
  readonly waits: RecordChangeWaiter;
  decide(key: ApprovalKey, decision: Decision, by: string): Promise<unknown>;
}

/** A call that waits for a decision. */
export interface WaitingCall {
  readonly asker: Asker;
  readonly signal: AbortSignal;
  /** A time of `performance.now()`: then the call stops waiting. */
  readonly giveUpAt: number;
}

/** Gets a call decided: asks the person at the caller's client, or waits for a decision elsewhere. */
export function createWaitForDecision({ records, vault, now, waits, decide }: WaitForDecisionOptions) {
  /** Resolves when the approval is decided or expired. Throws `E_APPROVAL_REQUIRED` when the time is up. */
  return async function getDecided(row: ApprovalRow, { asker, signal, giveUpAt }: WaitingCall): Promise<void> {
    const approval = toApprovalView(vault, row);
    const wait = (ms: number, until: AbortSignal) =>
      waits.until(row.approvalId, {
        isOver: () => isDecided(row),
        ms,
        signal: until,
        onTick: (waitedMs) => asker.onWaiting?.(approval, waitedMs),
      });
    const answer = asker.ask && (await askOrWait(asker.ask.bind(asker, approval), wait, signal));
    if (typeof answer === 'object') await decide(row, answer, asker.label);
    if (answer !== undefined) return;
    const leftMs = giveUpAt - performance.now();
    if (leftMs <= 0 || !(await wait(leftMs, signal))) throw toRequired(approval);
  };

  async function isDecided({ accountId, approvalId, expiresAt }: ApprovalRow): Promise<boolean> {
    if (isExpired({ expiresAt }, now())) return true;
    const row = await records.read((tables) => tables.approvals.get(accountId, approvalId));
    return row?.state !== 'pending';
  }
}

/**
 * Resolves with `true` when it was decided elsewhere while the person was being asked here, and with `undefined` when
 * the person did not answer.
 */
async function askOrWait(
  ask: (signal: AbortSignal) => Promise<Decision | undefined>,
  wait: (ms: number, until: AbortSignal) => Promise<boolean>,
  signal: AbortSignal,
): Promise<Decision | boolean | undefined> {
  const done = new AbortController();
  const until = AbortSignal.any([signal, done.signal]);
  try {
    return await Promise.race([ask(until), wait(Number.POSITIVE_INFINITY, until)]);
  } finally {
    done.abort();
  }
}

/**
 * Removes the id of the key from session ids: the caller knows its sessions by name, and only those who may list keys
 * may see key ids.
 */
export function toRequired({ inbox, ...view }: ApprovalView): AppError {
  const own = { session: sessionNameOf(view.session), ...(inbox !== undefined && { inbox: sessionNameOf(inbox) }) };
  const approval: ApprovalView = { ...view, ...own };
  const { tool, approvalId, expiresAt } = approval;
  const message = `a person has to agree to this call of ${tool}: approval ${approvalId}, until ${expiresAt}`;
  return new AppError('E_APPROVAL_REQUIRED', message, { details: { approval } });
}
