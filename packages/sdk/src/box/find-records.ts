import type { Agent, CreateSandbox, Sandbox, Workspace } from '@croft/protocol';
import type { z } from 'zod';
import type { Client } from '../client/create-client.ts';
import { CroftError } from '../errors/croft-error.ts';

export type SandboxConfig = NonNullable<z.input<typeof CreateSandbox>['config']>;

/** The program itself is the person who would be asked. */
const usualConfig: SandboxConfig = { permissionMode: 'bypass' };
const usualName = 'box';
/** The name of the workspace for the agent of a box. */
export const workspaceName = 'work';

interface Named {
  readonly name: string;
}

/** Finds a record by its id or, if no other has it, by its name. */
async function findRecord<Row extends Named>(
  rows: AsyncIterable<Row>,
  idOf: (row: Row) => string,
  wanted: string,
): Promise<Row | undefined> {
  const found: Row[] = [];
  for await (const row of rows) {
    if (idOf(row) === wanted) return row;
    if (row.name === wanted) found.push(row);
  }
  if (found.length < 2) return found[0];
  throw new CroftError('E_AMBIGUOUS', `${wanted} is the name of several: ${found.map(idOf).join(', ')}`, {
    hint: 'Pass the id.',
  });
}

export async function findWorkspace({ workspaces }: Client, name: string, isMade: boolean): Promise<Workspace> {
  const found = await findRecord(workspaces.all(), ({ workspaceId }) => workspaceId, name);
  if (found) return found;
  if (!isMade) throw new CroftError('E_NOT_FOUND', `there is no workspace ${name}`);
  return workspaces.create({ name }, { idempotencyKey: crypto.randomUUID() });
}

/** The sandbox of a name, of an id, or of a configuration: equal configurations share one. */
export async function findSandbox(client: Client, wanted: string | SandboxConfig | undefined): Promise<Sandbox> {
  const { sandboxes } = client;
  if (typeof wanted === 'string') {
    const found = await findRecord(sandboxes.all(), ({ sandboxId }) => sandboxId, wanted);
    if (found) return found;
    throw new CroftError('E_NOT_FOUND', `there is no sandbox ${wanted}`);
  }
  const config = { ...usualConfig, ...wanted };
  const name = wanted === undefined ? usualName : `${usualName} ${await fingerprint(config)}`;
  for await (const row of sandboxes.all()) if (row.name === name) return row;
  return sandboxes.create({ name, config }, { idempotencyKey: crypto.randomUUID() });
}

async function fingerprint(value: object): Promise<string> {
  const sorted = JSON.stringify(value, (_, part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(sorted));
  return Array.from(new Uint8Array(hash, 0, 6), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** An agent, and the names by which it knows a workspace and its sandbox. */
export interface BoxAgent {
  readonly agentId: string;
  readonly workspace: string;
  readonly sandboxId: string | undefined;
}

export async function findAgent({ agents }: Client, wanted: string, { workspaceId }: Workspace): Promise<BoxAgent> {
  const found = await findRecord(agents.all(), ({ agentId }) => agentId, wanted);
  if (!found) throw new CroftError('E_NOT_FOUND', `there is no agent ${wanted}`);
  return toBoxAgent(found, workspaceId);
}

function toBoxAgent({ agentId, name, config }: Agent, workspaceId: string): BoxAgent {
  const reference = config.workspaces?.find((one) => one.workspaceId === workspaceId);
  if (!reference) throw new CroftError('E_NOT_FOUND', `the agent ${name} does not have this workspace: ${workspaceId}`);
  const sandboxId = reference.sandbox === undefined ? config.sandbox : (reference.sandbox ?? undefined);
  return { agentId, workspace: reference.name, sandboxId };
}

/** Makes the agent for boxes with this workspace and this sandbox, once. */
export async function makeAgent(client: Client, { workspaceId, ...workspace }: Workspace, sandboxId: string) {
  const name = `box ${workspace.name} ${workspaceId} ${sandboxId}`.slice(-200);
  for await (const row of client.agents.all()) if (row.name === name) return toBoxAgent(row, workspaceId);
  const config = { sandbox: sandboxId, workspaces: [{ name: workspaceName, workspaceId }] };
  const { agentId } = await client.agents.create({ name, config }, { idempotencyKey: crypto.randomUUID() });
  return { agentId, workspace: workspaceName, sandboxId };
}
