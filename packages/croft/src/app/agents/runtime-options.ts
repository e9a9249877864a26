import type { AnswerStore } from '../../core/answers/answer-store.ts';
import type { PostEditChecks } from '../../core/checks/post-edit/post-edit-checks.ts';
import type { OpenSandboxes } from '../../core/commands/open-sandboxes.ts';
import type { Provider, SandboxLimits } from '../../core/commands/sandbox.ts';
import type { RenderDiagram } from '../../core/diagrams/render-diagram.ts';
import type { Emit } from '../../core/events/emitter.ts';
import type { Forks } from '../../core/history/ports/forks.ts';
import type { Transactions } from '../../core/history/ports/transactions.ts';
import type { Reservations } from '../../core/reservations/reservations.ts';
import type { SkillsSyncer } from '../../core/skills/skills-syncer.ts';
import type { Tool } from '../../core/tools/tool.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import type { DataDirectory } from '../../storages/index.ts';
import type { AccountQuota } from '../accounts/account-quota.ts';
import type { TransactionWorkspace } from '../forks/open-transactions.ts';
import type { WorkspaceParts } from '../workspaces/assemble-workspace.ts';
import type { OpenedWorkspaces, WorkspaceRecord } from '../workspaces/opened-workspaces.ts';

/** Options that all agents of a server share. */
export interface RuntimeOptions {
  readonly tools: readonly Tool[];
  readonly localWorkspaces: Pick<DataDirectory, 'openScratch'>;
  readonly openedWorkspaces: OpenedWorkspaces;
  openTransactions(workspace: TransactionWorkspace): Transactions;
  /** Forks that the agent makes are attached to the agent. */
  openForks(record: WorkspaceRecord, agentId: string): Forks;
  /** Providers by the name that accounts choose. */
  readonly providers: Readonly<Record<string, Provider>>;
  /** Upper limits of every sandbox. */
  readonly limits: SandboxLimits;
  /** See `SandboxSpec.minFreeBytes`. */
  readonly minFreeBytes?: number | undefined;
  /** Whether sandboxes of accounts may use the network of this machine and reach private addresses. */
  readonly sharesNetwork: boolean;
  /** Names of control files that the operator lets agents change, whatever a sandbox record says. Default: none. */
  readonly allowControl?: readonly string[] | undefined;
  readonly accountQuota: AccountQuota;
  readonly openSandboxes: OpenSandboxes;
  readonly reservations: Pick<Reservations, 'use'>;
  /** Adds what all workspaces of this server share to the parts of one. */
  assembleWorkspace(parts: WorkspaceParts): Workspace;
  readonly renderDiagram: RenderDiagram;
  /** Without it, the server has no skills of its own. */
  readonly skills?: SkillsSyncer | undefined;
  readonly effects: PostEditChecks;
  /** Stores the long answers of all sessions. */
  readonly shelf: AnswerStore;
  readonly sandboxIdleMs: number;
  readonly sessionIdleMs: number;
  readonly maxSessions: number;
  readonly now: () => number;
  readonly emit: Emit;
  /** Writes a line to the server's log. */
  onWarning(message: string): void;
}
