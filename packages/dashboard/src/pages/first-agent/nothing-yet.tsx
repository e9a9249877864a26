import type { Sandbox, Workspace } from '@croft/protocol';
import { navigate } from '../../browser/router.ts';
import { Empty, Failure } from '../../parts/loading-states.tsx';
import { useAction } from '../../parts/use-action.ts';
import { request } from '../../server/request.ts';
import { mayDo } from '../../server/session.ts';
import { invalidate } from '../../server/use-resource.ts';

/** Something that an account does not have yet, and the way to a first agent with all that it needs. */
export function NothingYet({ what }: { readonly what: string }) {
  const make = useAction(async () => {
    await makeFirstAgent();
    invalidate('/v1/agents', '/v1/workspaces', '/v1/sandboxes');
    navigate('/?start=1');
  });
  return (
    <Empty>
      <p>This account has no {what} yet.</p>
      {mayDo('write') && (
        <>
          <p>Start with an agent that has an empty workspace, and a sandbox without a network.</p>
          <button type="button" class="button button-primary" disabled={make.isRunning} onClick={() => make.run()}>
            {make.isRunning ? 'Making it…' : 'Make a first agent'}
          </button>
        </>
      )}
      {make.error && <Failure error={make.error} />}
      <p>
        By hand: <code>croft workspaces create</code>, <code>croft sandboxes create</code>,{' '}
        <code>croft agents create</code>
      </p>
    </Empty>
  );
}

/** What is there already is used. */
async function makeFirstAgent(): Promise<void> {
  const { workspaces } = await request<{ workspaces: readonly Workspace[] }>('GET', '/v1/workspaces');
  const { sandboxes } = await request<{ sandboxes: readonly Sandbox[] }>('GET', '/v1/sandboxes');
  const create = <Made,>(kind: string, name: string, config: object) =>
    request<Made>('POST', `/v1/${kind}`, { body: { name, config } });
  const workspace = workspaces[0] ?? (await create<Workspace>('workspaces', 'notes', {}));
  const sandbox = sandboxes[0] ?? (await create<Sandbox>('sandboxes', 'workshop', { permissionMode: 'bypass' }));
  const { name, workspaceId } = workspace;
  await create('agents', 'first-agent', { sandbox: sandbox.sandboxId, workspaces: [{ name, workspaceId }] });
}
