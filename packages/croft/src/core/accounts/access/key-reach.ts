import { AppError } from '@croft/protocol';
import type { Actor } from '../ports/registry.ts';

type Bound = Pick<Actor, 'agents'>;

/** Whether a key reaches this agent. To a key that is bound to other agents, the agent does not exist. */
export function reachesAgent({ agents }: Bound, agentId: string): boolean {
  return agents?.includes(agentId) ?? true;
}

/** Whether a key reaches everything that another key reaches. */
export function reachesAllOf({ agents: own }: Bound, { agents }: Bound): boolean {
  return own === undefined || (agents?.every((agentId) => own.includes(agentId)) ?? false);
}

/** Throws when a key would make one that reaches more than itself. */
export function mustReachAllOf(actor: Bound, wanted: Bound): void {
  if (reachesAllOf(actor, wanted)) return;
  const own = actor.agents?.join(', ');
  throw new AppError(
    'E_FORBIDDEN',
    `this key is bound to agents, so a key it makes must be bound to some of them: ${own}`,
    {
      details: { agents: actor.agents },
      hint: 'Pass agents with some of these, or use a key that is not bound to agents.',
    },
  );
}
