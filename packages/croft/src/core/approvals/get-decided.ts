import { AppError } from '@croft/protocol';
import type { ApprovalRow, Records } from '../accounts/records.ts';
import type { ApprovalView } from '../accounts/registry.ts';
import type { Vault } from '../accounts/vault.ts';
import type { Asker, Decision } from './approvals.ts';
import { isOver, type Now } from './change-row.ts';
import { toView } from './content.ts';
import type { ApprovalKey } from './settle.ts';
import type { Waits } from './waits.ts';

export interface GetDecidedOptions {
  readonly records: Records;
  readonly vault: Vault;
  readonly now: Now;
  readonly waits: Waits;
  decide(key: ApprovalKey, decision: Decision, by: string): Promise<unknown>;
}

/** One call that waits. */
export interface Waiting {
  readonly asker: Asker;
  readonly signal: AbortSignal;
  /** By `performance.now()`. */
  readonly giveUpAt: number;
}

/** Has a call decided: by the person at its own door, or by waiting for whoever decides elsewhere. */
export function createGetDecided({ records, vault, now, waits, decide }: GetDecidedOptions) {
  /** Comes back when it is decided or over. Throws `E_APPROVAL_REQUIRED` when there is no more time. */
  return async function getDecided(row: ApprovalRow, { asker, signal, giveUpAt }: Waiting): Promise<void> {
    const approval = toView(vault, row);
    const wait = (ms: number, until: AbortSignal) =>
      waits.until(row.approvalId, {
        isOver: () => isSettled(row),
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

  async function isSettled({ accountId, approvalId, expiresAt }: ApprovalRow): Promise<boolean> {
    if (isOver({ expiresAt }, now())) return true;
    const row = await records.read((tables) => tables.approvals.get(accountId, approvalId));
    return row?.state !== 'pending';
  }
}

/** `true`: it was decided elsewhere, while the person was being asked here. `undefined`: they did not answer. */
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

function toRequired(approval: ApprovalView): AppError {
  const { tool, approvalId, expiresAt } = approval;
  const message = `a person has to agree to this call of ${tool}: approval ${approvalId}, until ${expiresAt}`;
  return new AppError('E_APPROVAL_REQUIRED', message, { details: { approval } });
}
