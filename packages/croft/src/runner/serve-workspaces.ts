import type { RunnerWorkspace, RunnerWorkspaces } from '../core/runner-workspaces/runner-workspace.ts';
import type { Peer } from '../link/calls/peer.ts';
import { openWorkspace, removeWorkspace } from '../link/methods/workspace.ts';
import { serveCallWrapping } from './serve-call-wrapping.ts';
import { serveCode, serveCodeIndex } from './serve-code.ts';
import { serveFiles } from './serve-files.ts';
import { serveForks } from './serve-forks.ts';
import { createHandleTable, type LinkHandlers, type ServedWorkspaces, serveMethod } from './serve-helpers.ts';
import { serveHistory } from './serve-history.ts';
import { servePastTrees } from './serve-past-trees.ts';
import { servePrograms } from './serve-programs.ts';
import { createServedSandboxes, serveSandboxes } from './serve-sandboxes.ts';
import { serveSearches } from './serve-searches.ts';
import { serveTransactions } from './serve-transactions.ts';
import { serveWatches } from './serve-watches.ts';

const maxWorkspaces = 10_000;

/**
 * Serves the workspaces of this machine to the server over one link. Everything that is opened belongs to that link:
 * other links cannot name it, and it is closed with the link.
 */
export function serveWorkspaces(peer: Peer, machine: RunnerWorkspaces): void {
  const workspaces = createHandleTable<RunnerWorkspace>('place', maxWorkspaces);
  const sandboxes = createServedSandboxes();
  peer.serve({
    ...serveOpening(machine, workspaces),
    ...serveCallWrapping(workspaces),
    ...serveFiles(workspaces),
    ...serveCode(workspaces),
    ...serveCodeIndex(workspaces),
    ...serveSearches(workspaces),
    ...serveSandboxes(workspaces, sandboxes),
    ...servePrograms(sandboxes),
    ...serveHistory(workspaces),
    ...servePastTrees(workspaces),
    ...serveForks(workspaces),
    ...serveTransactions(workspaces, sandboxes),
    ...serveWatches(workspaces),
  });
}

/** The same request always gets the same id. Removing a workspace forgets its ids. */
function serveOpening(machine: RunnerWorkspaces, workspaces: ServedWorkspaces): LinkHandlers {
  const known = new Map<string, { readonly namespace: string; readonly place: string }>();
  const open = serveMethod(openWorkspace, async (request) => {
    const opened = await machine.open(request);
    const { namespace } = request;
    const key = JSON.stringify([namespace, request.workspace, request.name]);
    const handle = workspaces.put(known.get(key)?.place, opened);
    known.set(key, { namespace, place: handle });
    const { root, access, history, watch, transactions, wrapCall, forks, code, codeIndex } = opened;
    const has = {
      history: !!history,
      watch: !!watch,
      transactions: !!transactions,
      around: !!wrapCall,
      forks: !!forks,
      code: !!code,
      codeIndex: !!codeIndex,
      past: !!history?.past,
    };
    return { place: handle, root, access, has: { ...has, checks: has.history } };
  });
  const remove = serveMethod(removeWorkspace, async ({ namespace }) => {
    for (const [key, one] of known) {
      if (one.namespace !== namespace) continue;
      workspaces.delete(one.place);
      known.delete(key);
    }
    return { removed: await machine.remove(namespace) };
  });
  return { ...open, ...remove };
}
