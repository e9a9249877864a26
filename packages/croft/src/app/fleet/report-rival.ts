import type { RunnerToken } from '../../core/accounts/ports/registry.ts';
import type { Emit } from '../../core/events/emitter.ts';
import type { RunnerView } from '../../core/runners/runner.ts';
import { notifyOperator } from '../../link/methods/runner.ts';
import type { RunnerLink } from './runner-link.ts';

/** A connected runner whose token another machine may have too. */
export interface ContestedRunner {
  readonly token: RunnerToken;
  readonly link: RunnerLink;
  lastRefused?: RunnerView['lastRefused'];
  /** Time of the last report to the operator, in milliseconds since 1970. */
  rivalReportedAt?: number;
}

export interface ReportRivalOptions {
  readonly now: () => Date;
  readonly emit: Emit;
  /** Warns the operator of the server. */
  onWarning?(message: string): void;
}

/** A machine that reconnects again and again is reported once per this time. */
const quietMs = 10 * 60_000;

/**
 * Reports a second machine with the same token: to the account in its list of runners, to the operator of the server,
 * and to the operator of the machine that connected first.
 */
export function reportRival(
  first: ContestedRunner,
  address: string,
  { now, emit, onWarning }: ReportRivalOptions,
): void {
  const { accountId: account, name: runner } = first.token;
  const isKnown = first.lastRefused?.address === address;
  first.lastRefused = { at: now().toISOString(), address };
  if (isKnown && now().getTime() - (first.rivalReportedAt ?? 0) < quietMs) return;
  first.rivalReportedAt = now().getTime();
  const reason = `another machine, at ${address}, came with the token of the runner ${runner} and was refused`;
  emit('lifecycle.runner.refused', () => ({ account, runner, address, reason }));
  onWarning?.(`${reason} (account ${account})`);
  const message = `${reason}. If that machine is not yours, rotate the token: croft runners rotate ${runner}`;
  // A runner of an older release does not know this method.
  first.link.peer.call(notifyOperator.name, { message }, { deadlineMs: 60_000 }).answer.catch(() => {});
}
