import type { AgentFence } from '@croft/protocol';
import { Empty, Loaded } from '../../parts/loading-states.tsx';
import { mayDo } from '../../server/session.ts';
import { useResource } from '../../server/use-resource.ts';
import { toModeWords } from '../../text/format-times-and-sizes.ts';
import { TryCall } from './try-call.tsx';

const kinds = ['read', 'search', 'write', 'run'] as const;
type FencedWorkspace = AgentFence['workspaces'][number];
type Verdict = FencedWorkspace['read']['verdict'];

const signs: Readonly<Record<Verdict, readonly [sign: string, words: string]>> = {
  runs: ['✓', 'runs'],
  asks: ['?', 'asks'],
  no: ['–', 'no'],
};

/** A table of what the agent may do in which workspace, by the same rules as its calls. */
export function Fence({ id }: { readonly id: string }) {
  const fence = useResource<AgentFence>(`/v1/agents/${encodeURIComponent(id)}/fence`);
  return (
    <Loaded from={fence}>
      {(data) => (
        <div class="fence">
          {data.workspaces.length === 0 ? (
            <Empty>
              <p>This agent has no workspace.</p>
            </Empty>
          ) : (
            <FenceTable fence={data} />
          )}
          {mayDo('call') && <TryCall id={id} fence={data} />}
        </div>
      )}
    </Loaded>
  );
}

function FenceTable({ fence }: { readonly fence: AgentFence }) {
  return (
    <div class="table-scroll" tabIndex={0} role="group" aria-label="The fence of the agent">
      <table class="table fence-table">
        <thead>
          <tr>
            <th scope="col">Workspace</th>
            {kinds.map((kind) => (
              <th scope="col" key={kind}>
                {kind}
              </th>
            ))}
            <th scope="col">network</th>
            <th scope="col">secrets</th>
            <th scope="col">sandbox</th>
          </tr>
        </thead>
        <tbody>
          {fence.workspaces.map((workspace) => (
            <FenceRow key={workspace.name} workspace={workspace} shared={fence.secrets} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function FenceRow({ workspace, shared }: { readonly workspace: FencedWorkspace; readonly shared: readonly string[] }) {
  const { name, workspaceId, sandbox, permissionMode, access, network, secrets, allowControl, tools } = workspace;
  const canRun = workspace.run.verdict !== 'no';
  return (
    <tr>
      <th scope="row">
        <a href={`/workspaces/${encodeURIComponent(workspaceId)}/files`}>{name}</a>
        <div class="muted">{access}</div>
      </th>
      {kinds.map((kind) => (
        <td key={kind}>
          <VerdictMark {...workspace[kind]} />
          <Exceptions tools={tools.filter((tool) => tool.kind === kind && tool.verdict !== workspace[kind].verdict)} />
        </td>
      ))}
      <td>{canRun ? <Network network={network} /> : <span class="muted">–</span>}</td>
      <td class="names">
        {[...new Set([...secrets, ...(canRun ? shared : [])])].join(', ') || <span class="muted">–</span>}
      </td>
      <td>
        {sandbox ? nameOfSandbox(sandbox) : <span class="muted">none</span>}
        {sandbox && (
          <div class="muted">
            <span title={`permission mode ${permissionMode}`}>{toModeWords(permissionMode)}</span>
            {allowControl.length > 0 && `; ${allowControl.join(', ')} need no approval`}
          </div>
        )}
      </td>
    </tr>
  );
}

function nameOfSandbox({ name, provider }: NonNullable<FencedWorkspace['sandbox']>): string {
  return name === provider ? name : `${name} · ${provider}`;
}

function VerdictMark({ verdict, reason }: { readonly verdict: Verdict; readonly reason: string }) {
  const [sign, words] = signs[verdict];
  return (
    <span class={`verdict-mark verdict-${verdict}`} title={reason}>
      <span aria-hidden="true">{sign}</span> {words}
    </span>
  );
}

function Exceptions({ tools }: { readonly tools: FencedWorkspace['tools'] }) {
  if (tools.length === 0) return null;
  const listed = tools.map(({ name, verdict }) => `${name}: ${signs[verdict][1]}`).join(', ');
  if (tools.length <= 3) return <div class="muted">{listed}</div>;
  return (
    <details class="exceptions">
      <summary>except {tools.length} tools</summary>
      {listed}
    </details>
  );
}

function Network({ network }: { readonly network: FencedWorkspace['network'] }) {
  if (!network || network.mode === 'deny-all') return <>none</>;
  if (network.mode === 'allow-all') return <>every public host</>;
  return (
    <span class="names">{[...(network.allowDomains ?? []), ...(network.allowCidrs ?? [])].join(', ') || 'none'}</span>
  );
}
