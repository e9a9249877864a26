import { removeWorkspace } from '../../link/methods/workspace.ts';
import type { Peer } from '../../link/peer.ts';
import { createAsking } from './asking.ts';

/** A large one takes its time, for which whoever removes the record does not wait without end. */
const patienceMs = 120_000;

/** Takes a workspace away from a runner. Answers whether it had files of it. */
export async function removeRemoteWorkspace(peer: Peer, namespace: string): Promise<boolean> {
  const { removed } = await createAsking(peer, { patienceMs }).ask(removeWorkspace, { namespace });
  return removed;
}
