import type { ApprovalView } from '../accounts/ports/registry.ts';

/** One exact call that needs the approval of a person. */
export interface CallToApprove {
  readonly accountId: string;
  readonly agentId: string;
  /** The session of the call. An approval is valid in no other session. */
  readonly session: string;
  /** The session whose person is asked, if it is another one: approvals of a child session go to its parent. */
  readonly inbox?: string | undefined;
  readonly tool: string;
  /** Includes the directory that a command starts in, if that is not the root. */
  readonly workspace: string;
  /** The parsed input, which will run. */
  readonly input: unknown;
  /** Root-relative paths of the control files that the call changes. Absent: none. */
  readonly control?: readonly string[] | undefined;
  /** The settings of the place where the call would run, for the person who decides. */
  readonly setting?: ApprovalView['setting'];
  /** Returns what the person sees: a diff, a command. Called only when somebody has to decide. */
  preview(): Promise<string>;
}

export interface Decision {
  readonly decision: 'approve' | 'deny';
  readonly scope?: 'once' | 'session' | undefined;
  readonly reason?: string | undefined;
}

/** How the caller's interface (MCP, REST) can get a call decided. */
export interface Asker {
  /** The approval that the caller names. It must be for exactly this call. */
  readonly approvalId?: string | undefined;
  /** For the records: `elicitation` when the caller's own client asks its person. */
  readonly label: string;
  /** Asks the person at the caller's client. `undefined`: they did not answer. */
  ask?(approval: ApprovalView, signal: AbortSignal): Promise<Decision | undefined>;
  /** The call does not run: an approval is made if it has none, none is used up, and the answer is always an error. */
  readonly onlyAsks?: true | undefined;
  /** How long the call waits for a decision at the approval inbox. 0: not at all. */
  readonly waitMs: number;
  /** Called from time to time while the call waits. */
  onWaiting?(approval: ApprovalView, waitedMs: number): void;
}

/** Operations of calls on approvals. For those of people see `ApprovalInbox`. */
export interface Approvals {
  /**
   * Resolves when this call may run, once: an approval with scope `once` is used up by it. Throws `E_APPROVAL_REQUIRED`
   * (with `details.approval`) when nobody decided in time, `E_APPROVAL_DENIED`, `E_APPROVAL_EXPIRED`, and
   * `E_APPROVAL_MISMATCH` for an `approvalId` of another call, session or account, or one that is used up. A denial
   * stays until it expires, and for one minute once the call has received it.
   */
  mustBeApproved(call: CallToApprove, asker: Asker, signal: AbortSignal): Promise<void>;
}
