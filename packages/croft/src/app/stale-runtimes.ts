import { AppError } from '@croft/protocol';
import { isLive } from '../core/accounts/key-rows.ts';
import type { Registry } from '../core/accounts/registry.ts';
import { principalIn } from '../core/session-name.ts';
import type { AgentRuntime } from './agent-runtime.ts';
import { openSurface } from './agent-surface.ts';

type Entry = readonly [
  key: string,
  { readonly shape: string; readonly runtime: Pick<AgentRuntime, 'agent' | 'sessions'> },
];

/** Those whose agent, or something it refers to, was changed or is gone. */
export async function findStale<Of extends Entry>(registry: Registry, all: readonly Of[]): Promise<Set<Of>> {
  const stale = new Set<Of>();
  const byAgent = Map.groupBy(all, ([, { runtime }]) => `${runtime.agent.accountId}/${runtime.agent.id}`);
  for (const those of byAgent.values()) {
    const shape = await shapeNow(registry, those[0]?.[1].runtime.agent);
    for (const one of those) if (one[1].shape !== shape) stale.add(one);
  }
  return stale;
}

type IdleEntry = readonly [key: string, { readonly runtime: Pick<AgentRuntime, 'isIdle'> }];

/** Those to let go of so that no more are left, from the one idle longest on: never the last, or one that is busy. */
export function findSpare<Of extends IdleEntry>(all: readonly Of[], max: number): Of[] {
  if (all.length <= max) return [];
  const idle = all.slice(0, -1).filter(([, { runtime }]) => runtime.isIdle());
  return idle.slice(0, all.length - max);
}

async function shapeNow(registry: Registry, agent: AgentRuntime['agent'] | undefined): Promise<string | undefined> {
  try {
    return agent && (await openSurface(registry, agent.accountId, agent.id)).shape;
  } catch (thrown) {
    if (AppError.is(thrown) && thrown.code === 'E_NOT_FOUND') return undefined;
    throw thrown;
  }
}

/** What a key has started ends with it: nobody could see to it any more. */
export async function endRevoked(
  { registry, now }: { readonly registry: Registry; readonly now: () => Date },
  all: readonly Entry[],
): Promise<void> {
  const runtimes = all.map(([, { runtime }]) => runtime);
  for (const [accountId, own] of Map.groupBy(runtimes, ({ agent }) => agent.accountId)) {
    const keys = await registry.keys.every(accountId);
    const live = new Set(keys.filter((key) => isLive(key, now())).map(({ keyId }) => keyId));
    await Promise.all(own.map(({ sessions }) => sessions.endThose((id) => !live.has(principalIn(id)))));
  }
}
