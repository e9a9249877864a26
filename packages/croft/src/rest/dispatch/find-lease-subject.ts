import type { Actor } from '../../core/accounts/ports/registry.ts';
import type { HeldRequest } from '../forward/serve-where-held.ts';
import type { HttpMethod } from '../platform/route.ts';
import type { EndpointMatch } from './match-path.ts';

const agentPath = /\/agents\/\{agentId\}\/./;
const workspacePath = /\/workspaces\/\{workspaceId\}\/./;
const toolPath = /\/agents\/\{agentId\}\/tools\/\{name\}$/;

/**
 * Says what decides which server serves a request: everything below an agent or a workspace is served where that is.
 * Returns nothing for what every server can serve, because it is in the records.
 */
export function findLeaseSubject(
  { endpoint, params }: EndpointMatch,
  method: string,
  actor: Actor,
): HeldRequest | undefined {
  const { pattern } = endpoint;
  const { accountId, asOf } = actor;
  const { agentId, workspaceId } = params;
  const isGet = method === 'GET' || method === 'HEAD';
  if (agentId !== undefined && agentPath.test(pattern))
    return {
      find: (cluster, isFresh) => cluster.ofAgent({ accountId, agentId, asOf: isFresh ? undefined : asOf }, isFresh),
      isRead: (cluster) => isGet || (toolPath.test(pattern) && cluster.onlyReads(params.name ?? '')),
    };
  // A workspace that is open on a server would store its files again after another server has removed them.
  const isRemoval = method === ('DELETE' satisfies HttpMethod) && pattern.endsWith('/workspaces/{workspaceId}');
  if (workspaceId === undefined || !(isRemoval || workspacePath.test(pattern))) return undefined;
  return {
    find: (cluster, isFresh) => cluster.ofWorkspace(accountId, workspaceId, isFresh),
    isRead: () => isGet,
  };
}
