import { Health } from '@croft/protocol';
import { createEvents } from './account-events.ts';
import { createAccount, createAdmin } from './accounts.ts';
import { type AgentOptions, createAgent } from './agent.ts';
import { createApprovals, createAudit } from './approvals.ts';
import { createCollections } from './collections.ts';
import { createFiles } from './files.ts';
import { createForks } from './forks.ts';
import { createKeySession } from './key-session.ts';
import { createKeys, createSecrets } from './keys.ts';
import { type ClientOptions, type Connection, createRequest, createSend, toConnection } from './request.ts';
import { createRunners } from './runners.ts';
import { createHistory } from './snapshots.ts';
import { createTerminals } from './terminals.ts';

export type Client = ReturnType<typeof createClientOn>;

/** A typed client of `croft serve`: one method for each route. Every refusal is a `CroftError` with the server's code. */
export function createClient(options: ClientOptions): Client {
  return createClientOn(toConnection(options));
}

export function createClientOn(connection: Connection) {
  const [request, send] = [createRequest(connection), createSend(connection)];
  return {
    health: (): Promise<Health> => request('GET', '/healthz', { answer: Health }),
    account: createAccount(request, '/v1/account'),
    session: createKeySession(request),
    keys: createKeys(request),
    ...createCollections(request, '/v1'),
    runners: createRunners(request),
    terminals: createTerminals(request),
    secrets: createSecrets(request),
    approvals: createApprovals(request),
    audit: createAudit(request),
    /** Events of the account from now on, or after a position. */
    events: createEvents(send),
    /** History of a workspace: its snapshots, and the changes of calls. */
    history: (workspaceId: string) => createHistory(request, workspaceId),
    /** Copies of a workspace. */
    forks: (workspaceId: string) => createForks(request, workspaceId),
    /** The files of a workspace. */
    files: (workspaceId: string) => createFiles(request, send, workspaceId),
    /** Calls the tools of an agent, in a session of the caller. */
    agent: (agentId: string, agentOptions?: AgentOptions) => createAgent({ request, send }, agentId, agentOptions),
    /** Needs the admin token. */
    accounts: createAdmin(request),
  };
}
