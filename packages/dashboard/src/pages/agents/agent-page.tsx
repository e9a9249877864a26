import type { Agent } from '@croft/protocol';
import { useState } from 'preact/hooks';
import { Dialog } from '../../parts/dialog.tsx';
import { useResource } from '../../server/use-resource.ts';
import { AgentCalls } from './agent-calls.tsx';
import { Fence } from './agent-fence.tsx';
import { Sessions } from './agent-sessions.tsx';
import { ConnectAgent } from './connect-agent.tsx';

const tabs = { calls: 'Calls', fence: 'Fence', sessions: 'Sessions' } as const;
type AgentTab = keyof typeof tabs;

export function AgentPage({ id, tab }: { readonly id: string; readonly tab: AgentTab }) {
  const [isConnecting, setConnecting] = useState(false);
  const root = `/agents/${encodeURIComponent(id)}`;
  const agents = useResource<{ agents: readonly Agent[] }>('/v1/agents?limit=200');
  const agent = agents.value.data?.agents.find(({ agentId }) => agentId === id);
  return (
    <div class="page page-agent">
      <header class="page-head">
        <h1>
          <a class="crumb" href="/agents">
            Agents
          </a>{' '}
          {agent?.name ?? id}
        </h1>
        <nav class="subtabs" aria-label="Parts of the agent">
          {Object.entries(tabs).map(([key, words]) => (
            <a key={key} href={`${root}/${key}`} aria-current={key === tab ? 'page' : undefined}>
              {words}
            </a>
          ))}
        </nav>
        <div class="page-actions">
          {agent && (
            <button type="button" class="button" onClick={() => setConnecting(true)}>
              Connect
            </button>
          )}
        </div>
      </header>
      {tab === 'calls' && <AgentCalls id={id} />}
      {tab === 'fence' && <Fence id={id} />}
      {tab === 'sessions' && <Sessions id={id} />}
      {isConnecting && agent && (
        <Dialog title={`Connect ${agent.name}`} isWide onClose={() => setConnecting(false)}>
          <h2>Connect {agent.name}</h2>
          <ConnectAgent agent={agent} />
          <div class="actions">
            <button type="button" class="button" onClick={() => setConnecting(false)}>
              Close
            </button>
          </div>
        </Dialog>
      )}
    </div>
  );
}
