import { Health } from '@croft/protocol';
import { createEvents } from './account-events.ts';
import { createAccount, createAdmin } from './accounts.ts';
import { type AgentOptions, createAgent } from './agent.ts';
import { createApprovals, createAudit } from './approvals.ts';
import { createCollections } from './collections.ts';
import { createFiles } from './files.ts';
import { createKeys, createSecrets } from './keys.ts';
import { type ClientOptions, createRequest, createSend } from './request.ts';
import { createRunners } from './runners.ts';
import { createSession } from './session.ts';
import { createHistory } from './snapshots.ts';
import { createTerminals } from './terminals.ts';

export { AppError } from '@croft/protocol';
export type { AccountEventOptions } from './account-events.ts';
export type { AgentOptions, ToolCall, ToolCallOptions } from './agent.ts';
export type { ApprovalFilter, DecisionOptions } from './approvals.ts';
export type { ChangeOptions, CreateOptions } from './collections.ts';
export type {
  DownloadOptions,
  LinkOptions,
  ListFilesOptions,
  SearchOptions,
  UploadBody,
  UploadOptions,
} from './files.ts';
export type { PageOptions } from './pages.ts';
export type { ClientOptions } from './request.ts';
export type { UndoOptions } from './snapshots.ts';

export type Client = ReturnType<typeof createClient>;

/** A typed client of `croft serve`. Every failure is an `AppError` with the code of the server. */
export function createClient(options: ClientOptions) {
  const [request, send] = [createRequest(options), createSend(options)];
  return {
    health: (): Promise<Health> => request('GET', '/healthz', { answer: Health }),
    account: createAccount(request, '/v1/account'),
    session: createSession(request),
    keys: createKeys(request),
    ...createCollections(request, '/v1'),
    runners: createRunners(request),
    terminals: createTerminals(request),
    secrets: createSecrets(request),
    approvals: createApprovals(request),
    audit: createAudit(request),
    /** What happens in the account from now on, or after a position. */
    events: createEvents(send),
    /** What a workspace was: its snapshots, and what calls changed. */
    history: (workspaceId: string) => createHistory(request, workspaceId),
    /** The files of a workspace. */
    files: (workspaceId: string) => createFiles(request, send, workspaceId),
    /** Calls the tools of an agent, in a session of the caller. */
    agent: (agentId: string, agentOptions?: AgentOptions) => createAgent(request, agentId, agentOptions),
    /** Needs the admin token. */
    accounts: createAdmin(request),
  };
}
