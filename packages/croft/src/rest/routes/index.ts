import type { Route } from '../platform/route.ts';
import { accountRecordRoutes } from './account.ts';
import { accountListRoutes } from './accounts.ts';
import { agentMcpRoutes } from './agent-mcp.ts';
import { agentSessionRoutes } from './agent-sessions.ts';
import { agentToolRoutes } from './agent-tools.ts';
import { agentRoutes } from './agents.ts';
import { approvalRoutes } from './approvals.ts';
import { auditRoutes, auditTrailRoutes } from './audit.ts';
import { browserSessionRoutes } from './browser-sessions.ts';
import { checkpointRoutes } from './checkpoints.ts';
import { eventRoutes } from './events.ts';
import { fileContentRoutes } from './file-contents.ts';
import { fileLinkRoutes } from './file-links.ts';
import { fileRoutes } from './files.ts';
import { forkRoutes } from './forks.ts';
import { keyRoutes } from './keys.ts';
import { runnerRoutes } from './runners.ts';
import { sandboxRoutes } from './sandboxes.ts';
import { secretRoutes } from './secrets.ts';
import { snapshotRoutes } from './snapshots.ts';
import { terminalRoutes } from './terminals.ts';
import { workspaceRoutes } from './workspaces.ts';

/**
 * The routes of one account: below `/v1` and `/accounts/me`, and for the admin some of them below
 * `/accounts/{accountId}`.
 */
export const accountRoutes: readonly Route[] = [
  ...accountRecordRoutes,
  ...browserSessionRoutes,
  ...keyRoutes,
  ...agentRoutes,
  ...agentToolRoutes,
  ...agentSessionRoutes,
  ...agentMcpRoutes,
  ...sandboxRoutes,
  ...runnerRoutes,
  ...terminalRoutes,
  ...workspaceRoutes,
  ...fileRoutes,
  ...fileContentRoutes,
  ...fileLinkRoutes,
  ...snapshotRoutes,
  ...checkpointRoutes,
  ...forkRoutes,
  ...secretRoutes,
  ...approvalRoutes,
  ...auditRoutes,
  ...eventRoutes,
];

export const adminRoutes: readonly Route[] = [...accountListRoutes, ...auditTrailRoutes];
