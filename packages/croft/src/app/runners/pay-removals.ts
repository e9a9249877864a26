import type { RunnerToken } from '../../core/accounts/registry.ts';
import type { Fleet } from './fleet.ts';
import type { FleetPlaces } from './fleet-places.ts';
import { isRefusal, type OwedRemovals } from './owed-removals.ts';
import type { RunnerLink } from './runner-link.ts';

export interface PaymentMeans {
  readonly fleet: Pick<Fleet, 'onOnline'>;
  readonly remote: Pick<FleetPlaces, 'remove'>;
  readonly owed: OwedRemovals;
  onFailure(thrown: unknown): void;
}

interface Debtor {
  readonly token: RunnerToken;
  readonly link: RunnerLink;
  /** Of each workspace, since it last connected. */
  readonly tries: Map<string, number>;
  isAsked: boolean;
}

/** Of each workspace over one connection: a machine that cannot do it now may be able to when it comes anew. */
const maxTries = 3;

/** Takes away what runners still have as soon as they are there again, one workspace of each after the other. */
export function createPayments({ fleet, remote, owed, onFailure }: PaymentMeans) {
  const debtors = new Map<RunnerLink, Debtor>();
  fleet.onOnline((token, link) => {
    const debtor = debtors.get(link) ?? meet(token, link);
    debtor.tries.clear();
    void ask(debtor);
  });

  function meet(token: RunnerToken, link: RunnerLink): Debtor {
    const debtor = { token, link, tries: new Map<string, number>(), isAsked: false };
    debtors.set(link, debtor);
    void link.peer.lost.then(() => debtors.delete(link));
    return debtor;
  }

  async function ask(debtor: Debtor): Promise<void> {
    if (debtor.isAsked) return;
    debtor.isAsked = true;
    try {
      const { accountId, name } = debtor.token;
      for (const { workspaceId: id } of await owed.list(accountId, name)) await take(debtor, { accountId, id });
    } catch (thrown) {
      onFailure(thrown);
    } finally {
      debtor.isAsked = false;
    }
  }

  async function take({ token, link, tries }: Debtor, gone: { accountId: string; id: string }): Promise<void> {
    const tried = tries.get(gone.id) ?? 0;
    if (tried >= maxTries || link.state() !== 'online') return;
    tries.set(gone.id, tried + 1);
    try {
      await remote.remove(gone, token.name);
    } catch (thrown) {
      // Anything else was told when the record went.
      if (isRefusal(thrown)) await owed.leave(gone, token.name, thrown);
      return;
    }
    await owed.pay(gone, token.name);
  }

  /** From time to time: what failed may not now, and what another server could not ask of its runners is asked here. */
  return { look: () => Promise.all([...debtors.values()].map(ask)) };
}
