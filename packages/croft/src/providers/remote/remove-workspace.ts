import type { Peer } from '../../link/calls/peer.ts';
import { removeWorkspace } from '../../link/methods/workspace.ts';
import { createRpcClient } from './rpc/rpc-client.ts';

/** Removing a large workspace takes long, and whoever removes its record waits for it. */
const patienceMs = 120_000;

/** Removes a workspace from a runner. Returns whether the runner had files of it. */
export async function removeRemoteWorkspace(peer: Peer, namespace: string): Promise<boolean> {
  const { removed } = await createRpcClient(peer, { patienceMs }).ask(removeWorkspace, { namespace });
  return removed;
}
