import type { Agent, Key } from '@croft/protocol';
import { useState } from 'preact/hooks';
import { nameOfAgent } from '../../live/record-names.ts';
import { CopyBlock } from '../../parts/copy-button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Empty, Failure, Loaded } from '../../parts/loading-states.tsx';
import { Ago, Id, Marked } from '../../parts/marked-text.tsx';
import { useAction } from '../../parts/use-action.ts';
import { request, segment } from '../../server/request.ts';
import { mayDo, session } from '../../server/session.ts';
import { invalidate, useResource } from '../../server/use-resource.ts';

const path = '/v1/keys?limit=200';
const scopes = ['read', 'write', 'call', 'approve', 'terminal'] as const;
const meanings: Readonly<Record<(typeof scopes)[number], string>> = {
  read: 'see everything',
  write: 'change records and files, undo',
  call: 'call tools: what a model gets',
  approve: 'decide approvals',
  terminal: 'open terminals, which ask nobody',
};

export function KeysPage() {
  const keys = useResource<{ keys: readonly Key[] }>(session.value?.isOperator ? undefined : path);
  const [revoking, setRevoking] = useState<Key | undefined>(undefined);
  if (session.value?.isOperator)
    return (
      <Empty>
        <p>The workspaces of the operator have one token, which the operator keeps. Accounts have keys.</p>
      </Empty>
    );
  return (
    <div class="page">
      <header class="page-head">
        <h1>Keys</h1>
      </header>
      {mayDo('write') && <CreateKey />}
      <Loaded from={keys} onRetry={() => invalidate(path)}>
        {({ keys: found }) => (
          <ul class="things">
            {found.map((key) => (
              <KeyLine key={key.keyId} entry={key} onRevoke={() => setRevoking(key)} />
            ))}
          </ul>
        )}
      </Loaded>
      {revoking && <RevokeDialog entry={revoking} onClose={() => setRevoking(undefined)} />}
    </div>
  );
}

function KeyLine({ entry, onRevoke }: { readonly entry: Key; onRevoke(): void }) {
  const { keyId, name, scopes: given, agents, createdAt, expiresAt, revokedAt } = entry;
  const isRevoked = revokedAt !== undefined;
  return (
    <li class={isRevoked ? 'thing thing-over' : 'thing'}>
      <span class="thing-name">
        <Marked text={name} />
      </span>
      <span class="thing-about">
        {given.includes('*') ? 'everything' : given.join(', ')}
        {agents && ` · only ${agents.map(nameOfAgent).join(', ')}`}
      </span>
      <span class="thing-end">
        {isRevoked ? (
          <>
            revoked <Ago at={revokedAt} />
          </>
        ) : expiresAt !== undefined ? (
          <>
            ends <Ago at={expiresAt} />
          </>
        ) : (
          <>
            made <Ago at={createdAt} />
          </>
        )}
      </span>
      <Id id={keyId} />
      {!isRevoked && mayDo('write') && (
        <button type="button" class="button button-quiet" onClick={onRevoke}>
          Revoke<span class="visually-hidden"> {name}</span>
        </button>
      )}
    </li>
  );
}

function CreateKey() {
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>(['call']);
  const [agent, setAgent] = useState('');
  const [secret, setSecret] = useState<string | undefined>(undefined);
  const agents = useResource<{ agents: readonly Agent[] }>('/v1/agents?limit=200').value.data?.agents ?? [];
  const create = useAction(async () => {
    const body = { name: name.trim(), scopes: chosen, ...(agent !== '' && { agents: [agent] }) };
    const made = await request<{ secret: string }>('POST', '/v1/keys', { body });
    setSecret(made.secret);
    setName('');
    invalidate('/v1/keys');
  });
  const toggle = (scope: string) =>
    setChosen(chosen.includes(scope) ? chosen.filter((one) => one !== scope) : [...chosen, scope]);
  return (
    <form
      class="create-key"
      onSubmit={(event) => {
        event.preventDefault();
        create.run();
      }}
    >
      <div class="toolbar">
        <input
          aria-label="Name of the new key"
          placeholder="Name of the new key"
          required
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <select aria-label="Bound to an agent" value={agent} onChange={(event) => setAgent(event.currentTarget.value)}>
          <option value="">All of the account</option>
          {agents.map(({ agentId, name: title }) => (
            <option key={agentId} value={agentId}>
              Only {title}
            </option>
          ))}
        </select>
        <button type="submit" class="button button-primary" disabled={create.isRunning || chosen.length === 0}>
          Make a key
        </button>
      </div>
      <fieldset class="scopes">
        <legend>It may</legend>
        {scopes.map((scope) => (
          <label class="check" key={scope}>
            <input type="checkbox" checked={chosen.includes(scope)} onChange={() => toggle(scope)} />
            {scope} <span class="muted">{meanings[scope]}</span>
          </label>
        ))}
      </fieldset>
      {create.error && <Failure error={create.error} />}
      {secret !== undefined && (
        <div role="status">
          <p>
            <strong>Copy the key now.</strong> It is shown this once.
          </p>
          <CopyBlock text={secret} label="The new key" />
        </div>
      )}
    </form>
  );
}

function RevokeDialog({ entry, onClose }: { readonly entry: Key; onClose(): void }) {
  const revoke = useAction(async () => {
    await request('DELETE', `/v1/keys/${segment(entry.keyId)}`);
    invalidate('/v1/keys');
    onClose();
  });
  return (
    <Confirm title={`Revoke ${entry.name}?`} action="Revoke" isDangerous onConfirm={revoke.run} onClose={onClose}>
      <p class="muted">Whoever uses it is refused from now on. Sessions of this page that began with it end too.</p>
      {revoke.error && <Failure error={revoke.error} />}
    </Confirm>
  );
}
