import { AppError } from '@croft/protocol';
import { isLive } from '../../core/accounts/keys/key-rows.ts';
import type { Registry } from '../../core/accounts/ports/registry.ts';
import type { Session } from '../../core/sessions/session.ts';
import { principalOf } from '../../core/sessions/session-name.ts';
import type { AgentRuntime } from './agent-runtime.ts';
import { changedSecrets, findLostAccess, interrupted, type RuntimeGrants, secretChanged } from './find-lost-access.ts';
import type { OpenAgent, OpenedAgent } from './open-agent.ts';

type Entry = readonly [
  key: string,
  RuntimeGrants & { readonly runtime: Pick<AgentRuntime, 'agent' | 'sessions' | 'endGiven'> },
];

/** Ends sessions whose secrets changed. Returns the runtimes that lost more than that, with what they lost. */
export async function findStaleRuntimes<Of extends Entry>(
  openSurface: OpenAgent,
  all: readonly Of[],
): Promise<Map<Of, string[]>> {
  const stale = new Map<Of, string[]>();
  const byAgent = Map.groupBy(all, ([, { runtime }]) => `${runtime.agent.accountId}/${runtime.agent.id}`);
  for (const those of byAgent.values()) {
    const now = await openOrNone(openSurface, those[0]?.[1].runtime.agent);
    for (const one of those) {
      const losses = now ? findLostAccess(one[1], now) : ['the agent, or something it refers to, was deleted'];
      if (losses.length > 0) stale.set(one, losses);
      else if (now) await endGiven(one[1], now);
    }
  }
  return stale;
}

async function endGiven({ secrets, runtime }: Entry[1], now: OpenedAgent): Promise<void> {
  const changed = changedSecrets(secrets, now.secrets);
  if (changed.length > 0) await runtime.endGiven(changed, secretChanged);
}

type IdleEntry = readonly [key: string, { readonly runtime: Pick<AgentRuntime, 'isIdle'> }];

/**
 * The idle runtimes to close so that at most `max` remain, longest idle first. Never the last one used, or a busy one.
 */
export function findIdleRuntimes<Of extends IdleEntry>(all: readonly Of[], max: number): Of[] {
  if (all.length <= max) return [];
  const idle = all.slice(0, -1).filter(([, { runtime }]) => runtime.isIdle());
  return idle.slice(0, all.length - max);
}

async function openOrNone(
  openSurface: OpenAgent,
  agent: AgentRuntime['agent'] | undefined,
): Promise<OpenedAgent | undefined> {
  try {
    return agent && (await openSurface(agent.accountId, agent.id));
  } catch (thrown) {
    if (AppError.is(thrown) && thrown.code === 'E_NOT_FOUND') return undefined;
    throw thrown;
  }
}

/** Ends the sessions of keys that are no longer valid, because nobody could control them any more. */
export async function endRevoked(
  { registry, now }: { readonly registry: Registry; readonly now: () => Date },
  all: readonly Entry[],
): Promise<void> {
  const runtimes = all.map(([, { runtime }]) => runtime);
  for (const [accountId, own] of Map.groupBy(runtimes, ({ agent }) => agent.accountId)) {
    const keys = await registry.keys.listAll(accountId);
    const live = new Set(keys.filter((key) => isLive(key, now())).map(({ keyId }) => keyId));
    const isOver = ({ id }: Session) => !live.has(principalOf(id));
    const reason = interrupted(['its key was revoked or has expired']);
    await Promise.all(own.map(({ sessions }) => sessions.endThose(isOver, reason)));
  }
}
