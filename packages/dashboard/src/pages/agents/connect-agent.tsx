import type { Agent, Key } from '@croft/protocol';
import { useState } from 'preact/hooks';
import { CopyBlock } from '../../parts/copy-button.tsx';
import { Failure } from '../../parts/loading-states.tsx';
import { useAction } from '../../parts/use-action.ts';
import { request } from '../../server/request.ts';
import { mayDo, session } from '../../server/session.ts';
import { clients, toServerUrl } from './client-configurations.ts';

/** The configuration of an MCP client for this agent, to copy. */
export function ConnectAgent({ agent }: { readonly agent: Agent }) {
  const [name, setName] = useState(clients[0]?.name ?? '');
  const [secret, setSecret] = useState<string | undefined>(undefined);
  const isOperator = session.value?.isOperator === true;
  const client = clients.find((known) => known.name === name) ?? clients[0];
  const makeKey = useAction(async () => {
    const body = { name: `${agent.name}, made on the page`, scopes: ['call'], agents: [agent.agentId] };
    const made = await request<{ key: Key; secret: string }>('POST', '/v1/keys', { body });
    setSecret(made.secret);
  });
  if (!client) return null;
  const url = toServerUrl(location, isOperator ? '/mcp' : `/v1/agents/${agent.agentId}/mcp`);
  return (
    <div class="connect">
      <div class="segments" role="group" aria-label="Client">
        {clients.map((known) => (
          <button
            key={known.name}
            type="button"
            aria-pressed={known.name === client.name}
            onClick={() => setName(known.name)}
          >
            {known.name}
          </button>
        ))}
      </div>
      <p class="muted">{client.where}</p>
      <CopyBlock text={client.write(url, secret)} label={`Configuration for ${client.name}`} />
      {secret !== undefined && <p>The key is in the text above. It is shown this once.</p>}
      {secret === undefined && isOperator && (
        <p class="muted">
          <code>CROFT_TOKEN</code> is the server’s token: <code>croft serve</code> prints the file that it is in.
        </p>
      )}
      {secret === undefined && !isOperator && mayDo('write') && (
        <button type="button" class="button" disabled={makeKey.isRunning} onClick={() => makeKey.run()}>
          Make a key that may only call this agent
        </button>
      )}
      {makeKey.error && <Failure error={makeKey.error} />}
    </div>
  );
}
