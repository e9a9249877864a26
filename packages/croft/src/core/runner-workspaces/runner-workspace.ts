import type { CodeQuestions } from '../code/ports/code-questions.ts';
import type { ServerMode } from '../code/ports/language-servers.ts';
import type { NetworkPolicy } from '../commands/network-policy.ts';
import type { Sandbox, SandboxLimits } from '../commands/sandbox.ts';
import type { Fork, Forks } from '../history/ports/forks.ts';
import type { Transactions } from '../history/ports/transactions.ts';
import type { WorkspaceQuota } from '../storage/stored-mount.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** A request for a sandbox on a runner. The runner refuses what exceeds its own policy. */
export interface SandboxRequest {
  readonly limits: SandboxLimits;
  readonly network: NetworkPolicy;
  /** As in `SandboxSpec`. */
  readonly allowControl?: readonly string[] | undefined;
}

/** A workspace as its runner serves it. The server builds its `Workspace` from it. */
export interface RunnerWorkspace
  extends Pick<
    Workspace,
    'root' | 'access' | 'files' | 'withSearchBox' | 'history' | 'watch' | 'wrapCall' | 'codeIndex'
  > {
  /** Throws `E_SANDBOX_UNAVAILABLE` for more than the policy of the runner allows. */
  openSandbox(wanted: SandboxRequest): Promise<Sandbox>;
  /** Opens transactions, whose commands run in sandboxes of this kind. Absent: there are no transactions. */
  transactions?(wanted: SandboxRequest): Transactions;
  /**
   * Answers questions about its code, with the language servers of the runner in this mode at most. Absent: the runner
   * has an older release, which has none.
   */
  readonly code?: ((mode: ServerMode) => CodeQuestions) | undefined;
  /** Absent: the workspace cannot be forked. */
  readonly forks?: RunnerForks | undefined;
}

/** A fork as the runner knows it. The server knows whose it is. */
export type RunnerFork = Pick<Fork, 'name' | 'workspaceId' | 'createdAt'>;

export interface ForkRequest {
  /** Namespace of the fork. It never changes. */
  readonly namespace: string;
  /** Id of the fork at the server. */
  readonly workspaceId: string;
  readonly name: string;
  readonly snapshot?: string | undefined;
}

/**
 * Forks of a workspace, on the runner that has the workspace. Each is opened and removed like any other workspace of
 * the runner.
 */
export interface RunnerForks extends Pick<Forks, 'merge'> {
  /** Throws `E_ALREADY_EXISTS` if the runner has a workspace of that namespace, or a fork of that name. */
  fork(wish: ForkRequest, signal: AbortSignal): Promise<RunnerFork>;
  list(): Promise<readonly RunnerFork[]>;
  /** Forgets the base of a removed fork. */
  forget(name: string): Promise<void>;
}

export interface WorkspaceRequest {
  /** Never changes: `namespaceOf(accountId, workspaceId)`. */
  readonly namespace: string;
  /** The account's name for it. A runner that was given directories by name finds the directory by it. */
  readonly workspace: string;
  /** The agent's name for it, which the model sees. */
  readonly name: string;
  /** Absent: the files are on the runner itself. */
  readonly bucket?: BucketRequest | undefined;
  readonly quota?: WorkspaceQuota | undefined;
}

/** A bucket with a workspace. Its credentials stay with the server. */
export interface BucketRequest {
  /** Handle by which the runner asks the server for objects. Valid for one link. */
  readonly objects: string;
  /** Differs for another bucket. */
  readonly mark: string;
  readonly onOutage: 'refuse' | 'queue';
}

/** The workspaces of one runner. */
export interface RunnerWorkspaces {
  /**
   * Creates the workspace on first use if the runner has a root for new ones. Throws `E_NOT_FOUND` for a workspace that
   * the runner does not serve.
   */
  open(wish: WorkspaceRequest): Promise<RunnerWorkspace>;
  /**
   * Removes what the runner created for a workspace, including its history. Resolves with whether it had files of its
   * own: a directory that the operator of the runner named is never removed. Throws `E_READ_ONLY` if the runner is
   * read-only.
   */
  remove(namespace: string): Promise<boolean>;
}
