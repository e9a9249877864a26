import { isNarrower } from '../../toolsets/select-tools.ts';
import { isSameJson } from '../configs/check-json.ts';
import { hasMemory } from '../configs/harness-settings.ts';
import type { AgentConfig, WorkspaceConfig } from '../ports/registry.ts';
import { findSandboxNarrowing } from './find-sandbox-narrowing.ts';
import type { AgentSurface, AttachedWorkspace } from './resolve-surface.ts';

/** Everything that a session of an agent can use. */
export interface GrantedAccess {
  readonly surface: AgentSurface;
  readonly config: Pick<AgentConfig, 'mcpServers' | 'workspaceMcp' | 'tools'>;
}

/**
 * Lists what was taken away, in words for the person whose work is interrupted by it. Empty when nothing was taken
 * away: running programs may then continue. A change that cannot be judged counts as taken away.
 */
export function findNarrowing(before: GrantedAccess, after: GrantedAccess): string[] {
  return [
    ...before.surface.workspaces.flatMap((had) => compareWorkspace(had, after.surface.workspaces)),
    ...compareStateless(before.surface, after.surface),
    ...compareServers(before.config, after.config),
    ...(isNarrower(before.config.tools, after.config.tools) ? ['tools were taken from the agent'] : []),
  ];
}

function compareWorkspace(had: AttachedWorkspace, all: readonly AttachedWorkspace[]): string[] {
  const has = all.find(({ name }) => name === had.name);
  const of = `workspace "${had.name}"`;
  if (!has) return [`${of} was taken from the agent`];
  if (has.record.id !== had.record.id) return [`${of} was replaced by another workspace`];
  const inside = had.sandbox ? compareSandbox(had, has) : [];
  return [...compareConfig(had.record.config, has.record.config), ...inside].map((what) => `${of}: ${what}`);
}

function compareSandbox(had: AttachedWorkspace, has: AttachedWorkspace): string[] {
  if (!had.sandbox) return [];
  if (!has.sandbox) return ['it is read-only now'];
  if (had.sandbox.id !== has.sandbox.id) return ['it has another sandbox'];
  return findSandboxNarrowing(had.sandbox.config, has.sandbox.config);
}

function compareConfig(had: WorkspaceConfig, has: WorkspaceConfig): string[] {
  const isMoved = had.home !== undefined && had.home !== has.home;
  return [
    ...(isSameJson(had.storage, has.storage) && !isMoved ? [] : ['its storage was changed']),
    ...(isSameJson(had.isolation ?? false, has.isolation ?? false) ? [] : ['its isolation was changed']),
    ...(isLess(had.quota?.bytes, has.quota?.bytes) || isLess(had.quota?.files, has.quota?.files)
      ? ['its quota was lowered']
      : []),
    ...(hasMemory(had) && !hasMemory(has) ? ['its memory was turned off'] : []),
  ];
}

function compareStateless({ stateless: had }: AgentSurface, { stateless: has }: AgentSurface): string[] {
  if (!had) return [];
  if (had.id !== has?.id) return ['the sandbox was taken from the agent'];
  return findSandboxNarrowing(had.config, has.config).map((what) => `the sandbox: ${what}`);
}

function compareServers(had: GrantedAccess['config'], has: GrantedAccess['config']): string[] {
  const changed = Object.entries(had.mcpServers ?? {}).filter(([name, server]) => {
    const now = Object.hasOwn(has.mcpServers ?? {}, name) ? has.mcpServers?.[name] : undefined;
    return !isSameJson(server, now);
  });
  return [
    ...changed.map(([name]) => `the MCP server ${name} was changed or removed`),
    ...(had.workspaceMcp && !has.workspaceMcp ? ['MCP servers of workspaces were turned off'] : []),
  ];
}

/** An absent limit means no limit. */
function isLess(had: number | undefined, has: number | undefined): boolean {
  return (has ?? Number.POSITIVE_INFINITY) < (had ?? Number.POSITIVE_INFINITY);
}
