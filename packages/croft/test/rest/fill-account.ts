import { expect } from 'vitest';
import type { RestFixture } from './fixture.ts';
import { runningCall } from './stand-in-agents.ts';

/** Fills an account with one of everything, and returns the ids by their names in paths. */
export async function fillAccount({ send }: RestFixture, token: string) {
  const make = async (path: string, body: unknown) => {
    const answer = await send('POST', path, { token, body });
    expect(answer.status, answer.text).toBe(201);
    return answer.json;
  };
  const { sandboxId } = await make('/v1/sandboxes', {
    name: 'box',
    config: { permissionMode: 'ask', envVars: { DATABASE: 'postgres://secret' } },
  });
  const { workspaceId } = await make('/v1/workspaces', { name: 'files', config: { storage: { provider: 'local' } } });
  // Secrets and snapshots are both `name` in paths.
  await make(`/v1/workspaces/${workspaceId}/snapshots`, { name: 'TOKEN' });
  const workspaces = [{ name: 'main', workspaceId }];
  const { agentId } = await make('/v1/agents', { name: 'worker', config: { sandbox: sandboxId, workspaces } });
  // Runners are `name` too.
  await make('/v1/runners', { name: 'TOKEN' });
  const { key } = await make('/v1/keys', { name: 'spare', scopes: ['read'] });
  await send('PUT', '/v1/secrets/TOKEN', { token, body: { value: 'of-great-value' } });
  const asked = await send('POST', `/v1/agents/${agentId}/tools/ask`, { token, body: { n: 1 } });
  expect(asked.status, asked.text).toBe(202);
  await send('POST', `/v1/agents/${agentId}/tools/echo`, { token, body: {}, headers: { 'Croft-Session': 'first' } });
  const { approvalId } = asked.json.approval;
  const ids = {
    callId: runningCall,
    sandboxId,
    workspaceId,
    agentId,
    keyId: key.keyId,
    approvalId,
    checkpointId: 'cp_000001',
  };
  return { ...ids, name: 'TOKEN', session: 'first' };
}

export type Ids = Awaited<ReturnType<typeof fillAccount>>;

/** Fills ids into a path such as `/v1/sandboxes/{sandboxId}`. Tools and secrets are both `name`. */
export function fillPath(pattern: string, ids: Readonly<Record<string, string>>): string {
  const known = { ...ids, ...(pattern.includes('/tools/') && { name: 'echo' }) } as Record<string, string>;
  const path = pattern.replaceAll(/\{(\w+)\}/g, (_, name) => known[name] ?? expect.unreachable(`no ${name}`));
  return pattern.endsWith('/search') ? `${path}?pattern=x` : path;
}
