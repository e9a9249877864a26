export * from './account-events.ts';
export {
  Account,
  CreateAccount,
  CreateKey,
  Key,
  PatchAccount,
  PutSecret,
  Scope,
  Secret,
  SecretName,
} from './accounts.ts';
export { Agent, AgentConfigInput, CreateAgent, WorkspaceReference } from './agents.ts';
export { Approval, ApprovalState, DecideApproval } from './approvals.ts';
export { AuditHead, AuditRecord, AuditVerdict } from './audit.ts';
export * from './browser-sessions.ts';
export * from './call-outlook.ts';
export { AppError, ErrorBody, ErrorEnvelope } from './errors/app-error.ts';
export { type ErrorCode, errorCatalog } from './errors/error-catalog.ts';
export { LifecycleEvent, type LifecycleEventName, lifecycleEvents } from './events.ts';
export { ConfigPatch, Description, Name, RecordPatch, toPath } from './field-schemas.ts';
export * from './files.ts';
export * from './forks.ts';
export { DependencyState, Health, Readiness } from './health.ts';
export * from './live-sandboxes.ts';
export { isMcpServerName, McpServer, McpServers } from './mcp-servers.ts';
export { PageQuery, pageFields } from './page-query.ts';
export * from './rest-answers.ts';
export {
  AccountEventsQuery,
  AgentSessionQuery,
  AgentToolInput,
  ApprovalQuery,
  AuditQuery,
  OpenAgentSession,
} from './rest-queries.ts';
export * from './rest-runners.ts';
export { type RestSchema, restSchemas } from './rest-schemas.ts';
export * from './runner-link.ts';
export { CreateSandbox, Sandbox, SandboxConfigInput, SandboxNetwork } from './sandboxes.ts';
export * from './snapshots.ts';
export * from './terminals.ts';
export * from './workspace-search.ts';
export { CreateWorkspace, Workspace, WorkspaceConfigInput, WorkspaceStorage } from './workspaces.ts';
