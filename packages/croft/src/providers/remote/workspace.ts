import type { OfferedWorkspace, WorkspaceWish } from '../../core/runners/offer.ts';
import { openWorkspace } from '../../link/methods/workspace.ts';
import type { Peer } from '../../link/peer.ts';
import { createRemoteAround } from './around.ts';
import { createAsking } from './asking.ts';
import { createRemoteFiles } from './files.ts';
import { createRemoteForks } from './forks.ts';
import { createRemoteHistory } from './history.ts';
import { nonsense } from './nonsense.ts';
import { openRemoteSandbox } from './sandbox.ts';
import { createRemoteSearches } from './searches.ts';
import { createRemoteTransactions } from './transactions.ts';
import { createRemoteWatch } from './watch.ts';

export interface RemoteOptions {
  /** For a short answer of the runner, and between two pieces of a long one. More than a cut cable is waited for. */
  readonly patienceMs?: number | undefined;
}

const defaultPatienceMs = 120_000;

/**
 * A workspace that a runner has, as it offers it. Good for as long as the link is: whoever has it when that is lost asks
 * for it anew on the next.
 */
export async function createRemoteWorkspace(
  peer: Peer,
  wish: WorkspaceWish,
  { patienceMs = defaultPatienceMs }: RemoteOptions = {},
): Promise<OfferedWorkspace> {
  const asking = createAsking(peer, { patienceMs });
  const { namespace, workspace, name, bucket, quota } = wish;
  const { place, root, access, has } = await asking.ask(openWorkspace, { namespace, workspace, name, bucket, quota });
  const isStored = bucket !== undefined || quota !== undefined;
  if (isStored && !has.around) throw nonsense(openWorkspace.name, 'a workspace that it does not store');
  return {
    root,
    access,
    files: createRemoteFiles(asking, place),
    withSearchBox: createRemoteSearches(asking, place),
    openSandbox: (wanted) => openRemoteSandbox(asking, place, wanted),
    ...(has.history && { history: createRemoteHistory(asking, place) }),
    ...(has.around && { around: createRemoteAround(asking, place, { isShared: bucket !== undefined }) }),
    ...(has.watch && { watch: createRemoteWatch(asking, place) }),
    ...(has.forks && { forks: createRemoteForks(asking, place) }),
    ...(has.transactions && { transactions: (wanted) => createRemoteTransactions(asking, place, wanted) }),
  };
}
