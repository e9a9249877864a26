import type { AppError } from '@croft/protocol';
import { z } from 'zod';
import type { RunnerToken } from '../../core/accounts/ports/registry.ts';
import type { Emit } from '../../core/events/emitter.ts';
import type { RunnerCandidate } from '../../core/runners/choose-runner.ts';
import type { RunnerLoad, RunnerReport, RunnerView } from '../../core/runners/runner.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import { type ContestedRunner, type ReportRivalOptions, reportRival } from './report-rival.ts';
import type { RunnerLink } from './runner-link.ts';

interface FleetOptions extends ReportRivalOptions {
  readonly now: () => Date;
  readonly emit: Emit;
}

interface Member extends ContestedRunner {
  readonly report: RunnerReport;
  readonly connectedAt: Date;
  load: RunnerLoad;
}

/** The stored data of a disconnected runner. */
type DisconnectedRunner = Pick<RunnerView, 'report' | 'connectedAt' | 'lastSeenAt' | 'lastError'>;

const Load = z.object({ sandboxes: z.int().min(0).max(1_000_000), cpu: z.number().min(0).max(10_000) });

export type Fleet = ReturnType<typeof createFleet>;

/** The runners that are connected to this server. Each belongs to one account. */
export function createFleet(options: FleetOptions) {
  const { now, emit } = options;
  const members = new Map<string, Member>();
  const former = new BoundedMap<string, DisconnectedRunner>(maxFormer);
  const dropListeners = new Set<(key: string, reason: string) => void>();
  const onlineListeners = new Set<(token: RunnerToken, link: RunnerLink) => void>();

  return {
    join,
    /** Called when a second machine connects with the token of a connected runner. */
    refuseRival(token: RunnerToken, address: string): void {
      const member = members.get(runnerKey(token.accountId, token.name));
      if (member) reportRival(member, address, options);
    },
    view(token: RunnerToken): RunnerView {
      const key = runnerKey(token.accountId, token.name);
      return toRunnerView(token, members.get(key), former.get(key));
    },
    dropRevoked: (list: ListTokens, only?: string) => dropRevoked([...members.values()], list, only),
    linkOf: (accountId: string, name: string): RunnerLink | undefined => members.get(runnerKey(accountId, name))?.link,
    candidates(accountId: string): RunnerCandidate[] {
      const own = [...members.values()].filter(({ token }) => token.accountId === accountId);
      return own.map(({ token, report, load, link }) => ({ name: token.name, state: link.state(), report, load }));
    },
    /** Disconnects a runner whose token is no longer valid. */
    drop(accountId: string, name: string, reason: string): void {
      members.get(runnerKey(accountId, name))?.link.close(reason);
      for (const listener of dropListeners) listener(runnerKey(accountId, name), reason);
    },
    /** For the endpoint that admits runners: a runner may be connecting with a token that was valid a moment ago. */
    onDrop: (listener: (key: string, reason: string) => void) => void dropListeners.add(listener),
    /** Called for every connection of a runner, also when the runner resumes its link. */
    onOnline: (listener: (token: RunnerToken, link: RunnerLink) => void) => void onlineListeners.add(listener),
    /** Disconnects every runner of a removed account. */
    dropAll(accountId: string): void {
      for (const { token, link } of [...members.values()])
        if (token.accountId === accountId) link.close('the account of the runner was removed');
    },
  };

  /** Adds a new link. An earlier link of this name is over: the runner remembers nothing of it. */
  function join(token: RunnerToken, report: RunnerReport, link: RunnerLink): void {
    const key = runnerKey(token.accountId, token.name);
    const member: Member = { token, report, link, connectedAt: now(), load: { sandboxes: 0, cpu: 0 } };
    members.set(key, member);
    former.delete(key);
    link.peer.serve({
      'runner.load': async (params) => {
        member.load = Load.parse(params);
        return {};
      },
    });
    emitState(member, 'online');
    link.onState((state) => {
      emitState(member, state);
      if (state === 'online') for (const listener of onlineListeners) listener(token, link);
    });
    void link.peer.lost.then((reason) => leave(key, member, reason));
    closeAtExpiry(token, link, now());
  }

  function leave(key: string, member: Member, reason: AppError): void {
    // A newer link has the same name and must stay.
    if (members.get(key) !== member) return;
    members.delete(key);
    former.set(key, { ...seen(member), lastError: reason.message });
    emitState(member, 'offline', reason.message);
  }

  function emitState({ token, report }: Member, state: RunnerView['state'], reason?: string): void {
    const { accountId, name } = token;
    emit(`lifecycle.runner.${state}`, () => ({ account: accountId, runner: name, version: report.version, reason }));
  }
}

/** A runner as its account sees it. */
function toRunnerView(
  token: RunnerToken,
  member: Member | undefined,
  former: DisconnectedRunner | undefined,
): RunnerView {
  const { accountId: _, ...own } = token;
  if (!member) return { ...own, state: 'offline', ...former };
  const { link, load, lastRefused } = member;
  return { ...own, state: link.state(), load, ...(lastRefused && { lastRefused }), ...seen(member) };
}

const revoked = 'the token of the runner was revoked or has expired';
/** Only the latest are remembered, because an account may create runners under ever new names. */
const maxFormer = 1000;
const maxTimerMs = 2 ** 31 - 1;

/** Closes the link at the moment its token expires, not at the next check. */
function closeAtExpiry({ expiresAt }: RunnerToken, { peer, close }: RunnerLink, now: Date): void {
  if (expiresAt === undefined) return;
  const leftMs = Date.parse(expiresAt) - now.getTime();
  // Beyond the longest timer, the periodic check is enough.
  if (leftMs > maxTimerMs) return;
  const timer = setTimeout(() => close(revoked), leftMs);
  timer.unref();
  void peer.lost.then(() => clearTimeout(timer));
}

type ListTokens = (accountId: string) => Promise<readonly RunnerToken[]>;

/** Disconnects runners whose token is no longer valid, of `only` one account or of all. Another server may have revoked it. */
async function dropRevoked(members: readonly Member[], list: ListTokens, only?: string): Promise<void> {
  for (const [accountId, own] of Map.groupBy(members, ({ token }) => token.accountId)) {
    if (only !== undefined && accountId !== only) continue;
    const live = new Set((await list(accountId)).map(({ runnerId }) => runnerId));
    for (const { token, link } of own) if (!live.has(token.runnerId)) link.close(revoked);
  }
}

function seen({ report, link, connectedAt }: Member): DisconnectedRunner {
  return { report, connectedAt: connectedAt.toISOString(), lastSeenAt: link.lastSeenAt().toISOString() };
}

/** The key of a runner's link. It is unambiguous, because an id has no slash. */
export function runnerKey(accountId: string, name: string): string {
  return `${accountId}/${name}`;
}
