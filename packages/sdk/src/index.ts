import { Health } from '@croft/protocol';
import { createAccount, createAdmin } from './accounts.ts';
import { type AgentOptions, createAgent } from './agent.ts';
import { createApprovals, createAudit } from './approvals.ts';
import { createCollections } from './collections.ts';
import { createKeys, createSecrets } from './keys.ts';
import { type ClientOptions, createRequest } from './request.ts';

export { AppError } from '@croft/protocol';
export type { AgentOptions, ToolCall, ToolCallOptions } from './agent.ts';
export type { ApprovalFilter, DecisionOptions } from './approvals.ts';
export type { ChangeOptions, CreateOptions } from './collections.ts';
export type { PageOptions } from './pages.ts';
export type { ClientOptions } from './request.ts';

export type Client = ReturnType<typeof createClient>;

/** A typed client of `croft serve`. Every failure is an `AppError` with the server's own code. */
export function createClient(options: ClientOptions) {
  const request = createRequest(options);
  return {
    health: (): Promise<Health> => request('GET', '/healthz', { answer: Health }),
    account: createAccount(request, '/v1/account'),
    keys: createKeys(request),
    ...createCollections(request, '/v1'),
    secrets: createSecrets(request),
    approvals: createApprovals(request),
    audit: createAudit(request),
    /** An agent at work, in a session of the caller's. */
    agent: (agentId: string, agentOptions?: AgentOptions) => createAgent(request, agentId, agentOptions),
    /** For the admin token. */
    accounts: createAdmin(request),
  };
}
