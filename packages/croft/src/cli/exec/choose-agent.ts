import type { Agent } from '@croft/protocol';
import type { Client } from '@croft/sdk';
import { UsageError } from '../../lib/usage-error.ts';
import { agentKind, findRecord } from '../records/find-record.ts';

interface Wanted {
  readonly agent?: string | undefined;
  readonly sandbox?: string | undefined;
}

/** Agents that programs and `croft exec --sandbox` have made for themselves. */
const madeName = /^box /;

/**
 * Chooses the agent whose tools run the command: the named agent, or the only agent that has the workspace. Returns
 * `undefined` if no agent has it, or if a sandbox is named: then the pair of workspace and sandbox gets an agent of its
 * own.
 */
export async function chooseAgent(
  client: Client,
  workspaceId: string,
  { agent, sandbox }: Wanted,
): Promise<string | undefined> {
  if (agent !== undefined && sandbox !== undefined)
    throw new UsageError('--agent has its own sandbox: leave out --sandbox');
  if (sandbox !== undefined) return undefined;
  const agents = await Array.fromAsync(client.agents.all());
  if (agent !== undefined) return findRecord(agents, agent, agentKind).agentId;
  const having = agents.filter((one) => one.config.workspaces?.some((own) => own.workspaceId === workspaceId));
  const people = having.filter(({ name }) => !madeName.test(name));
  return onlyOne(people.length > 0 ? people : having)?.agentId;
}

function onlyOne(agents: readonly Agent[]): Agent | undefined {
  if (agents.length < 2) return agents[0];
  throw new UsageError(
    `several agents have this workspace; say which: --agent NAME, of: ${agents.map(agentKind.nameOf).join(', ')}`,
  );
}
