import type { NetworkPolicy } from '../commands/network-policy.ts';
import type { Sandbox, SandboxLimits } from '../commands/sandbox.ts';
import type { Fork, Forks } from '../history/forks.ts';
import type { Transactions } from '../history/transactions.ts';
import type { WorkspaceQuota } from '../storage.ts';
import type { Workspace } from '../workspace.ts';

/** What somebody wants of a machine for commands. A runner gives no more than its own policy has, and says so. */
export interface WantedSandbox {
  readonly limits: SandboxLimits;
  readonly network: NetworkPolicy;
}

/** A workspace as the machine that has it offers it to a server. The server's `Workspace` is made of it. */
export interface OfferedWorkspace
  extends Pick<Workspace, 'root' | 'access' | 'files' | 'withSearchBox' | 'history' | 'watch' | 'around'> {
  /** Throws `E_SANDBOX_UNAVAILABLE` for more than the policy of the machine allows. */
  openSandbox(wanted: WantedSandbox): Promise<Sandbox>;
  /** Their commands run in such sandboxes. Left out: there are none. */
  transactions?(wanted: WantedSandbox): Transactions;
  /** Left out: it cannot be forked. */
  readonly forks?: OfferedForks | undefined;
}

/** A fork as the machine knows it. Whose it is, the server says. */
export type OfferedFork = Pick<Fork, 'name' | 'workspaceId' | 'createdAt'>;

export interface ForkWish {
  /** What the fork is to be, for good. */
  readonly namespace: string;
  /** By which the server knows it again. */
  readonly workspaceId: string;
  readonly name: string;
  readonly snapshot?: string | undefined;
}

/** Forks of a workspace, on the very machine that has it. Each is opened and removed like any other of its workspaces. */
export interface OfferedForks extends Pick<Forks, 'merge'> {
  /** Throws `E_ALREADY_EXISTS` where the machine has a workspace of that namespace, or a fork of that name. */
  fork(wish: ForkWish, signal: AbortSignal): Promise<OfferedFork>;
  list(): Promise<readonly OfferedFork[]>;
  /** What a fork started as that was removed. */
  forget(name: string): Promise<void>;
}

export interface WorkspaceWish {
  /** What it is, for good: `namespaceOf(accountId, workspaceId)`. */
  readonly namespace: string;
  /** What the account calls it: a machine that was given directories by name has it by this one. */
  readonly workspace: string;
  /** What the agent calls it, which is how the model sees it. */
  readonly name: string;
  /** Left out: its files are the machine's own. */
  readonly bucket?: BucketWish | undefined;
  readonly quota?: WorkspaceQuota | undefined;
}

/** A workspace that is kept in a bucket, whose keys stay with the server. */
export interface BucketWish {
  /** By which the machine asks the server for what is in it. Good for one link. */
  readonly objects: string;
  /** Another one where the bucket is another. */
  readonly mark: string;
  readonly onOutage: 'refuse' | 'queue';
}

/** The workspaces of one machine. */
export interface Offer {
  /** Made on first use where the machine has a root for new ones. Throws `E_NOT_FOUND` for what it does not offer. */
  open(wish: WorkspaceWish): Promise<OfferedWorkspace>;
  /**
   * What was made for it, with all that it was. Answers whether there were files of its own: a directory that the operator
   * of the machine named is never taken away. Throws `E_READ_ONLY` where nothing may be changed.
   */
  remove(namespace: string): Promise<boolean>;
}
