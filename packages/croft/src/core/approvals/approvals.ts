import type { ApprovalView } from '../accounts/registry.ts';

/** One exact call that a person has to agree to. */
export interface CallToApprove {
  readonly accountId: string;
  readonly agentId: string;
  /** Whose call it is; an approval is good in no other session. */
  readonly session: string;
  /** The session whose person is asked, when that is another: a child's approvals are its parent's. */
  readonly inbox?: string | undefined;
  readonly tool: string;
  /** With the directory a command starts in, if that is not its root. */
  readonly workspace: string;
  /** As parsed: what will run. */
  readonly input: unknown;
  /** What a person is shown: a diff, a command. Only asked for when somebody has to decide. */
  preview(): Promise<string>;
}

export interface Decision {
  readonly decision: 'approve' | 'deny';
  readonly scope?: 'once' | 'session' | undefined;
  readonly reason?: string | undefined;
}

/** What the door a call came through can do to have it decided. */
export interface Asker {
  /** The approval the caller says this call has. It must be of exactly this call. */
  readonly approvalId?: string | undefined;
  /** For the record: `elicitation`, when the caller's own client asks its person. */
  readonly label: string;
  /** Asks the person at the other end, on the spot. `undefined`: they did not answer. */
  ask?(approval: ApprovalView, signal: AbortSignal): Promise<Decision | undefined>;
  /** How long the call may wait for somebody else to decide. 0: not at all. */
  readonly waitMs: number;
  /** Told from time to time while it waits. */
  onWaiting?(approval: ApprovalView, waitedMs: number): void;
}

/** What calls do with approvals. */
export interface Approvals {
  /**
   * Resolves when this call may run, once: an approval that was good for one call is used up by it. Throws
   * `E_APPROVAL_REQUIRED` (with `details.approval`) when nobody decided in time, `E_APPROVAL_DENIED`,
   * `E_APPROVAL_EXPIRED`, and `E_APPROVAL_MISMATCH` for an `approvalId` of another call, session or account, or one
   * that is used up. A denial is there for the call until its time is over, and for a minute once it was told of it.
   */
  mustBeApproved(call: CallToApprove, asker: Asker, signal: AbortSignal): Promise<void>;
}
