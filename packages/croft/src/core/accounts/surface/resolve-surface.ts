import { AppError } from '@croft/protocol';
import type { Tool } from '../../tools/tool.ts';
import { hasMemory } from '../configs/harness-settings.ts';
import type {
  AgentConfig,
  ResourceView,
  SandboxConfig,
  WorkspaceConfig,
  WorkspaceReference,
} from '../ports/registry.ts';

export interface SandboxRecord extends ResourceView<SandboxConfig> {
  /** Names of the secrets in its environment variables. */
  readonly secretNames?: readonly string[] | undefined;
}
type WorkspaceRecord = ResourceView<WorkspaceConfig>;

/** Finds the records that an agent refers to. */
interface FindRecords {
  sandbox(id: string): SandboxRecord | undefined;
  workspace(id: string): WorkspaceRecord | undefined;
}

/** A workspace as one agent uses it. */
export interface AttachedWorkspace {
  readonly name: string;
  readonly record: WorkspaceRecord;
  /** The sandbox of its commands. Absent: the workspace is read-only. */
  readonly sandbox?: SandboxRecord | undefined;
  /** How a workspace without a sandbox is read: through a mount that is refreshed, or directly from its storage. */
  readonly reads: 'sandbox' | 'mount' | 'direct';
}

/** Everything that an agent can use: its workspaces, of which the first is the default, or a sandbox alone. */
export interface AgentSurface {
  readonly workspaces: readonly AttachedWorkspace[];
  /** The sandbox of an agent without workspaces: its commands leave nothing behind. */
  readonly stateless?: SandboxRecord | undefined;
}

/** The tools of a read-only workspace. */
export const readOnlyTools: ReadonlySet<string> = new Set(['read', 'glob']);
const statelessTools: ReadonlySet<string> = new Set(['bash']);
/** Every agent has this tool, because the answers of every agent are cut. It reaches no workspace. */
const pagingTool = 'next_page';

/**
 * Resolves the sandbox of each workspace: the sandbox in a workspace reference wins over the agent's own, and `null`
 * means none.
 */
export function resolveSurface({ sandbox, workspaces = [] }: AgentConfig, find: FindRecords): AgentSurface {
  const own = sandbox === undefined ? undefined : mustFindSandbox(find, sandbox);
  if (workspaces.length === 0) return { workspaces: [], stateless: own };
  return { workspaces: workspaces.map((reference) => attach(reference, own, find)) };
}

/** Whether an agent has a tool: an agent has all tools of all its workspaces. */
export function hasTool({ workspaces, stateless }: AgentSurface, tool: Pick<Tool, 'name' | 'isHarness'>): boolean {
  if (tool.name === pagingTool) return stateless !== undefined || workspaces.length > 0;
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
