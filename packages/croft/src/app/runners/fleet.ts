import type { AppError } from '@croft/protocol';
import { z } from 'zod';
import type { RunnerToken } from '../../core/accounts/registry.ts';
import type { Emit } from '../../core/events.ts';
import type { Candidate } from '../../core/runners/placement.ts';
import type { RunnerLoad, RunnerReport, RunnerView } from '../../core/runners/runner.ts';
import type { RunnerLink } from './runner-link.ts';

export interface FleetOptions {
  readonly now: () => Date;
  readonly emit: Emit;
}

interface Member {
  readonly token: RunnerToken;
  readonly report: RunnerReport;
  readonly link: RunnerLink;
  readonly connectedAt: Date;
  load: RunnerLoad;
}

/** What is left of one that went away. */
type Former = Pick<RunnerView, 'report' | 'connectedAt' | 'lastSeenAt' | 'lastError'>;

const Load = z.object({ sandboxes: z.int().min(0).max(1_000_000), cpu: z.number().min(0).max(10_000) });

export type Fleet = ReturnType<typeof createFleet>;

/** The runners that are connected to this server, each of one account. */
export function createFleet({ now, emit }: FleetOptions) {
  const members = new Map<string, Member>();
  const former = new Map<string, Former>();
  const dropListeners = new Set<(key: string, reason: string) => void>();
  const onlineListeners = new Set<(token: RunnerToken, link: RunnerLink) => void>();

  return {
    join,
    view,
    dropRevoked: (list: ListTokens) => dropRevoked([...members.values()], list),
    linkOf: (accountId: string, name: string): RunnerLink | undefined => members.get(keyOf(accountId, name))?.link,
    candidates(accountId: string): Candidate[] {
      const own = [...members.values()].filter(({ token }) => token.accountId === accountId);
      return own.map(({ token, report, load, link }) => ({ name: token.name, state: link.state(), report, load }));
    },
    /** Its token is good no more. */
    drop(accountId: string, name: string, reason: string): void {
      members.get(keyOf(accountId, name))?.link.close(reason);
      for (const listener of dropListeners) listener(keyOf(accountId, name), reason);
    },
    /** For who lets runners in: one may be about to enter with a token that was good a moment ago. */
    onDrop: (listener: (key: string, reason: string) => void) => void dropListeners.add(listener),
    /** With every connection that a runner makes, also where it goes on with the link that it had. */
    onOnline: (listener: (token: RunnerToken, link: RunnerLink) => void) => void onlineListeners.add(listener),
    /** The account is no more. */
    dropAll(accountId: string): void {
      for (const { token, link } of [...members.values()])
        if (token.accountId === accountId) link.close('the account of the runner was removed');
    },
  };

  /** A new link. What was there under this name is over: the machine knows nothing of it any more. */
  function join(token: RunnerToken, report: RunnerReport, link: RunnerLink): void {
    const key = keyOf(token.accountId, token.name);
    const member: Member = { token, report, link, connectedAt: now(), load: { sandboxes: 0, cpu: 0 } };
    members.set(key, member);
    former.delete(key);
    link.peer.serve({
      'runner.load': async (params) => {
        member.load = Load.parse(params);
        return {};
      },
    });
    tell(member, 'online');
    link.onState((state) => {
      tell(member, state);
      if (state === 'online') for (const listener of onlineListeners) listener(token, link);
    });
    void link.peer.lost.then((reason) => leave(key, member, reason));
    endWith(token, link, now());
  }

  function leave(key: string, member: Member, reason: AppError): void {
    // The one that came after it is not its to take away.
    if (members.get(key) !== member) return;
    members.delete(key);
    remember(former, key, { ...seen(member), lastError: reason.message });
    tell(member, 'offline', reason.message);
  }

  function tell({ token, report }: Member, state: RunnerView['state'], reason?: string): void {
    const { accountId, name } = token;
    emit(`lifecycle.runner.${state}`, () => ({ account: accountId, runner: name, version: report.version, reason }));
  }

  /** As its account sees it. */
  function view(token: RunnerToken): RunnerView {
    const { accountId: _, ...own } = token;
    const member = members.get(keyOf(token.accountId, token.name));
    if (!member) return { ...own, state: 'offline', ...former.get(keyOf(token.accountId, token.name)) };
    return { ...own, state: member.link.state(), load: member.load, ...seen(member) };
  }
}

const revoked = 'the token of the runner was revoked or has expired';
const maxFormer = 1000;
const maxTimerMs = 2 ** 31 - 1;

/** At the moment its token ends, not at the next look. */
function endWith({ expiresAt }: RunnerToken, { peer, close }: RunnerLink, now: Date): void {
  if (expiresAt === undefined) return;
  const leftMs = Date.parse(expiresAt) - now.getTime();
  // For a longer time than a timer has, the look from time to time will do.
  if (leftMs > maxTimerMs) return;
  const timer = setTimeout(() => close(revoked), leftMs);
  timer.unref();
  void peer.lost.then(() => clearTimeout(timer));
}

type ListTokens = (accountId: string) => Promise<readonly RunnerToken[]>;

/** Those whose token is good no more, which may have been decided on another server. */
async function dropRevoked(members: readonly Member[], list: ListTokens): Promise<void> {
  for (const [accountId, own] of Map.groupBy(members, ({ token }) => token.accountId)) {
    const live = new Set((await list(accountId)).map(({ runnerId }) => runnerId));
    for (const { token, link } of own) if (!live.has(token.runnerId)) link.close(revoked);
  }
}

/** The last of them: an account may have runners under one name after another, without end. */
function remember(former: Map<string, Former>, key: string, left: Former): void {
  former.delete(key);
  former.set(key, left);
  for (const oldest of former.keys()) if (former.size > maxFormer) former.delete(oldest);
}

function seen({ report, link, connectedAt }: Member): Former {
  return { report, connectedAt: connectedAt.toISOString(), lastSeenAt: link.lastSeenAt().toISOString() };
}

/** By which there is one link: an id has no slash. */
export function keyOf(accountId: string, name: string): string {
  return `${accountId}/${name}`;
}
