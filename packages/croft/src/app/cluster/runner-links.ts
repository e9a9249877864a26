import type { RunnerLinkRow, RunnerLinkTable } from '../../core/accounts/ports/cluster-tables.ts';
import type { Records } from '../../core/accounts/ports/records.ts';
import type { RunnerToken } from '../../core/accounts/ports/registry.ts';
import type { RunnerView } from '../../core/runners/runner.ts';
import { parseJson } from '../../lib/text/parse-json.ts';
import { type Fleet, runnerKey } from '../fleet/fleet.ts';
import type { RunnerLink } from '../fleet/runner-link.ts';
import type { Holding } from './holding-server.ts';
import type { Membership } from './membership.ts';

interface RunnerLinksOptions {
  readonly records: Records;
  readonly now: () => Date;
  readonly membership: Membership;
  readonly fleet: Pick<Fleet, 'view' | 'onOnline' | 'linkOf'>;
}

interface ClaimedLink {
  readonly token: RunnerToken;
  readonly link: RunnerLink;
  /** Absent until the claim is stored. */
  row?: RunnerLinkRow | undefined;
}

/** How long it is remembered which other server has a runner. */
const rememberedMs = 2000;
const movedAway = 'the runner has connected to another server';

export type RunnerLinks = ReturnType<typeof createRunnerLinks>;

/** Says which server has the link of a runner. The newest link wins, and the server with the older one closes it. */
export function createRunnerLinks({ records, now, membership, fleet }: RunnerLinksOptions) {
  const claims = new Map<string, ClaimedLink>();
  const elsewhere = new Map<string, { readonly at: number; readonly row: RunnerLinkRow | undefined }>();
  fleet.onOnline((token, link) => {
    const claim: ClaimedLink = { token, link };
    claims.set(runnerKey(token.accountId, token.name), claim);
    void store(claim).catch(() => {});
    void link.peer.lost.then(() => leave(claim).catch(() => {}));
  });

  return {
    /** `undefined`: no server has the runner. */
    async holder(accountId: string, runner: string, isFresh: boolean): Promise<Holding | undefined> {
      const key = runnerKey(accountId, runner);
      const own = claims.get(key);
      if (own && fleet.linkOf(accountId, runner)) return { kind: 'here', key, epoch: own.row?.epoch ?? 0 };
      const row = await find(accountId, runner, isFresh);
      return row && toHolding(membership, key, row);
    },
    /** The runners of an account that other servers have, as those see them. */
    views: (accountId: string) => findViews(records, membership, accountId),
    /** Closes links that another server has a newer one of, and tells the others how the runners are. */
    async check(): Promise<void> {
      elsewhere.clear();
      if (claims.size === 0) return;
      const rows = await records.glance(({ runnerLinks }) => runnerLinks.ofServer(membership.id));
      const epochs = new Map(rows.map((row) => [runnerKey(row.accountId, row.runner), row.epoch]));
      for (const [key, claim] of [...claims]) {
        if (!claim.row) await store(claim);
        else if (epochs.get(key) === claim.row.epoch) await update(claim);
        else claim.link.close(movedAway);
      }
    },
  };

  async function find(accountId: string, runner: string, isFresh: boolean): Promise<RunnerLinkRow | undefined> {
    const key = runnerKey(accountId, runner);
    const known = elsewhere.get(key);
    if (!isFresh && known && performance.now() - known.at < rememberedMs) return known.row;
    const row = await records.glance(({ runnerLinks }) => runnerLinks.get(accountId, runner));
    elsewhere.set(key, { at: performance.now(), row });
    return row;
  }

  async function store(claim: ClaimedLink): Promise<void> {
    await membership.started;
    claim.row = await records.change(({ runnerLinks }) => putNewest(runnerLinks, toRow(claim), now()));
    records.notices?.send(`runner ${claim.row.accountId}`);
  }

  function toRow({ token }: ClaimedLink): Omit<RunnerLinkRow, 'epoch'> {
    const view = JSON.stringify(fleet.view(token));
    return { accountId: token.accountId, runner: token.name, serverId: membership.id, view };
  }

  async function update(claim: ClaimedLink): Promise<void> {
    const { view } = toRow(claim);
    if (!claim.row || claim.row.view === view) return;
    const row = { ...claim.row, view };
    claim.row = row;
    await records.change(({ runnerLinks }) => runnerLinks.update(row));
  }

  async function leave(claim: ClaimedLink): Promise<void> {
    const key = runnerKey(claim.token.accountId, claim.token.name);
    if (claims.get(key)?.link === claim.link) claims.delete(key);
    const { row } = claim;
    if (row) await records.change(({ runnerLinks }) => runnerLinks.remove(row));
  }
}

async function putNewest(table: RunnerLinkTable, row: Omit<RunnerLinkRow, 'epoch'>, now: Date): Promise<RunnerLinkRow> {
  const known = await table.get(row.accountId, row.runner);
  const newest = { ...row, epoch: Math.max((known?.epoch ?? 0) + 1, now.getTime()) };
  await table.put(newest);
  return newest;
}

function toHolding(membership: Membership, key: string, { serverId, epoch }: RunnerLinkRow): Holding | undefined {
  const server = membership.find(serverId);
  return server && { kind: 'elsewhere', key, epoch, server };
}

/** The runners of an account that other live servers have. A server of this installation wrote each view. */
async function findViews(records: Records, membership: Membership, accountId: string) {
  const rows = await records.glance(({ runnerLinks }) => runnerLinks.ofAccount(accountId));
  return rows.flatMap((row) => {
    const server = membership.find(row.serverId);
    return server ? [{ server, view: parseJson(row.view) as RunnerView }] : [];
  });
}
