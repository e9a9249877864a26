import type { Offer, OfferedWorkspace } from '../core/runners/offer.ts';
import { openWorkspace, removeWorkspace } from '../link/methods/workspace.ts';
import type { Peer } from '../link/peer.ts';
import { serveAround } from './serve-around.ts';
import { serveFiles } from './serve-files.ts';
import { serveForks } from './serve-forks.ts';
import { serveHistory } from './serve-history.ts';
import { createOwned, type Handlers, type Places, serving } from './serve-means.ts';
import { servePrograms } from './serve-programs.ts';
import { createSandboxes, serveSandboxes } from './serve-sandboxes.ts';
import { serveSearches } from './serve-searches.ts';
import { serveTransactions } from './serve-transactions.ts';
import { serveWatches } from './serve-watches.ts';

const maxPlaces = 10_000;

/**
 * Serves what this machine offers to the other side of one link. Whatever that opens is its own: no other link can name
 * it, and it goes with the link.
 */
export function serveOffer(peer: Peer, offer: Offer): void {
  const places = createOwned<OfferedWorkspace>('place', maxPlaces);
  const sandboxes = createSandboxes();
  peer.serve({
    ...serveOpening(offer, places),
    ...serveAround(places),
    ...serveFiles(places),
    ...serveSearches(places),
    ...serveSandboxes(places, sandboxes),
    ...servePrograms(sandboxes),
    ...serveHistory(places),
    ...serveForks(places),
    ...serveTransactions(places, sandboxes),
    ...serveWatches(places),
  });
}

/** The same wish leads to the same place, however often it is made; of a workspace that is removed, to none. */
function serveOpening(offer: Offer, places: Places): Handlers {
  const known = new Map<string, { readonly namespace: string; readonly place: string }>();
  const open = serving(openWorkspace, async (wish) => {
    const opened = await offer.open(wish);
    const { namespace } = wish;
    const key = JSON.stringify([namespace, wish.workspace, wish.name]);
    const place = places.put(known.get(key)?.place, opened);
    known.set(key, { namespace, place });
    const { root, access, history, watch, transactions, around, forks } = opened;
    const has = { history: !!history, watch: !!watch, transactions: !!transactions, around: !!around, forks: !!forks };
    return { place, root, access, has };
  });
  const remove = serving(removeWorkspace, async ({ namespace }) => {
    for (const [key, one] of known) {
      if (one.namespace !== namespace) continue;
      places.delete(one.place);
      known.delete(key);
    }
    return { removed: await offer.remove(namespace) };
  });
  return { ...open, ...remove };
}
