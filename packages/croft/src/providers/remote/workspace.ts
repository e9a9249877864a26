import type { RunnerWorkspace, WorkspaceRequest } from '../../core/runner-workspaces/runner-workspace.ts';
import type { Peer } from '../../link/calls/peer.ts';
import { openWorkspace } from '../../link/methods/workspace.ts';
import { createRemoteCode } from './code.ts';
import { createRemoteCodeIndex } from './code-index.ts';
import { createRemoteFiles } from './files.ts';
import { createRemoteForks } from './forks.ts';
import { createRemoteHistory } from './history.ts';
import { createRpcClient } from './rpc/rpc-client.ts';
import { invalidAnswer } from './rpc/runner-errors.ts';
import { openRemoteSandbox } from './sandbox.ts';
import { createRemoteSearches } from './searches.ts';
import { createRemoteToolCallWrapper } from './tool-call-wrapper.ts';
import { createRemoteTransactions } from './transactions.ts';
import { createRemoteWatch } from './watch.ts';

export interface RemoteOptions {
  /**
   * The time limit for a short answer of the runner, and between two pieces of a long one. It has to be longer than a
   * link waits for a new connection.
   */
  readonly patienceMs?: number | undefined;
}

const defaultPatienceMs = 120_000;

/**
 * Opens a workspace on a runner. The result is valid as long as the link; after a loss it has to be opened again on the
 * next link.
 */
export async function createRemoteWorkspace(
  peer: Peer,
  request: WorkspaceRequest,
  { patienceMs = defaultPatienceMs }: RemoteOptions = {},
): Promise<RunnerWorkspace> {
  const rpc = createRpcClient(peer, { patienceMs });
  const { namespace, workspace, name, bucket, quota } = request;
  const {
    place: handle,
    root,
    access,
    has,
  } = await rpc.ask(openWorkspace, { namespace, workspace, name, bucket, quota });
  const isStored = bucket !== undefined || quota !== undefined;
  if (isStored && !has.around) throw invalidAnswer(openWorkspace.name, 'a workspace that it does not store');
  return {
    root,
    access,
    files: createRemoteFiles(rpc, handle),
    withSearchBox: createRemoteSearches(rpc, handle),
    openSandbox: (wanted) => openRemoteSandbox(rpc, handle, wanted),
    ...(has.history && { history: createRemoteHistory(rpc, handle, { hasChecks: has.checks, hasPast: has.past }) }),
    ...(has.around && {
      wrapCall: createRemoteToolCallWrapper(rpc, handle, { isShared: bucket !== undefined, knowsIds: has.past }),
    }),
    ...(has.watch && { watch: createRemoteWatch(rpc, handle) }),
    ...(has.code && { code: createRemoteCode(rpc, handle) }),
    ...(has.codeIndex && { codeIndex: createRemoteCodeIndex(rpc, handle) }),
    ...(has.forks && { forks: createRemoteForks(rpc, handle) }),
    ...(has.transactions && { transactions: (wanted) => createRemoteTransactions(rpc, handle, wanted) }),
  };
}
