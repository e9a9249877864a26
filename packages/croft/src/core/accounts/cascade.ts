import { AppError } from '@croft/protocol';
import { hasMemory } from '../harness/settings.ts';
import type { Tool } from '../tool.ts';
import type { AgentConfig, ResourceView, SandboxConfig, WorkspaceConfig, WorkspaceReference } from './registry.ts';

type SandboxRecord = ResourceView<SandboxConfig>;
type WorkspaceRecord = ResourceView<WorkspaceConfig>;

/** Finds the records an agent refers to. */
export interface FindRecords {
  sandbox(id: string): SandboxRecord | undefined;
  workspace(id: string): WorkspaceRecord | undefined;
}

/** A workspace as one agent has it. */
export interface AttachedWorkspace {
  readonly name: string;
  readonly record: WorkspaceRecord;
  /** What its commands run in. Left out: it is read-only. */
  readonly sandbox?: SandboxRecord | undefined;
  /** How it is read where there is no sandbox: through a mount that is kept fresh, or straight from its storage. */
  readonly reads: 'sandbox' | 'mount' | 'direct';
}

/** What an agent has: workspaces in order, the first of which is the default; or a sandbox alone. */
export interface Surface {
  readonly workspaces: readonly AttachedWorkspace[];
  /** For commands that leave nothing behind, where there is no workspace at all. */
  readonly stateless?: SandboxRecord | undefined;
}

/** Where nothing may be changed. */
export const readOnlyTools: ReadonlySet<string> = new Set(['read', 'glob']);
const statelessTools: ReadonlySet<string> = new Set(['bash']);

/** Who works where: a reference of a workspace to a sandbox wins over the agent's own, and `null` over both. */
export function resolveSurface({ sandbox, workspaces = [] }: AgentConfig, find: FindRecords): Surface {
  const own = sandbox === undefined ? undefined : mustFindSandbox(find, sandbox);
  if (workspaces.length === 0) return { workspaces: [], stateless: own };
  return { workspaces: workspaces.map((reference) => attach(reference, own, find)) };
}

/** Whether a tool is in the box of an agent: the union of what its workspaces offer. */
export function isOffered({ workspaces, stateless }: Surface, tool: Pick<Tool, 'name' | 'isHarness'>): boolean {
  if (stateless) return statelessTools.has(tool.name);
  const withSandbox = workspaces.filter(({ sandbox }) => sandbox !== undefined);
  if (tool.isHarness) return withSandbox.some(({ record }) => hasMemory(record.config));
  return workspaces.length > 0 && (withSandbox.length > 0 || readOnlyTools.has(tool.name));
}

function attach(reference: WorkspaceReference, own: SandboxRecord | undefined, find: FindRecords): AttachedWorkspace {
  const { name, workspaceId } = reference;
  const record = find.workspace(workspaceId);
  if (!record) throw gone(`Referenced workspace not found: ${workspaceId} (as "${name}")`);
  if (reference.sandbox === null) return { name, record, reads: 'direct' };
  const sandbox = reference.sandbox === undefined ? own : mustFindSandbox(find, reference.sandbox);
  return sandbox ? { name, record, sandbox, reads: 'sandbox' } : { name, record, reads: 'mount' };
}

function mustFindSandbox(find: FindRecords, id: string): SandboxRecord {
  const sandbox = find.sandbox(id);
  if (!sandbox) throw gone(`Referenced sandbox not found: ${id}`);
  return sandbox;
}

function gone(message: string): AppError {
  return new AppError('E_NOT_FOUND', message);
}
