import type { Agent } from '@croft/protocol';
import { Loaded } from '../../parts/loading-states.tsx';
import { Id } from '../../parts/marked-text.tsx';
import { invalidate, useResource } from '../../server/use-resource.ts';
import { NothingYet } from '../first-agent/nothing-yet.tsx';

const path = '/v1/agents?limit=200';

export function AgentsPage() {
  const agents = useResource<{ agents: readonly Agent[] }>(path);
  return (
    <div class="page">
      <header class="page-head">
        <h1>Agents</h1>
      </header>
      <Loaded from={agents} onRetry={() => invalidate(path)}>
        {({ agents: found }) =>
          found.length === 0 ? (
            <NothingYet what="agent" />
          ) : (
            <ul class="things">
              {found.map((agent) => (
                <AgentLine key={agent.agentId} agent={agent} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </div>
  );
}

function AgentLine({ agent }: { readonly agent: Agent }) {
  const { agentId, name, description, config } = agent;
  const root = `/agents/${encodeURIComponent(agentId)}`;
  return (
    <li class="thing">
      <a class="thing-name" href={`${root}/calls`}>
        {name}
      </a>
      <span class="thing-about">
        {description ?? (config.workspaces ?? []).map(({ name: workspace }) => workspace).join(', ')}
      </span>
      <span class="thing-links">
        <a href={`${root}/fence`}>fence</a> <a href={`${root}/sessions`}>sessions</a>
      </span>
      <Id id={agentId} />
    </li>
  );
}
