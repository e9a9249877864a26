import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { type PermissionMode, permissionModes } from '../../workspace/permission.ts';
import type { AgentSurface, AttachedWorkspace } from './resolve-surface.ts';

/** The limits of a child session. They can only narrow what its agent has. */
export const SessionLimits = z.object({
  workspaces: z.array(z.string()).min(1).optional().describe('Only these, by name; all if left out'),
  permissionMode: z.enum(permissionModes).optional().describe('At least as strict as this'),
  readOnly: z.boolean().optional().describe('Nothing may be changed or run'),
});
export type SessionLimits = z.output<typeof SessionLimits>;

/** Returns the stricter of two modes: `permissionModes` begins with the strictest. */
function stricter(one: PermissionMode, other: PermissionMode | undefined): PermissionMode {
  return permissionModes.find((mode) => mode === one || mode === other) ?? 'ask';
}

/** Combines the limits of a session with those of its child. */
export function tightenLimits(outer: SessionLimits, inner: SessionLimits): SessionLimits {
  const workspaces = outer.workspaces
    ? (inner.workspaces ?? outer.workspaces).filter((name) => outer.workspaces?.includes(name))
    : inner.workspaces;
  if (workspaces?.length === 0) throw notGranted(inner.workspaces ?? []);
  return {
    // Sorted and without duplicates: the running agent is cached by its limits.
    workspaces: workspaces && [...new Set(workspaces)].sort(),
    permissionMode: outer.permissionMode ? stricter(outer.permissionMode, inner.permissionMode) : inner.permissionMode,
    readOnly: outer.readOnly || inner.readOnly,
  };
}

/** Applies session limits to the surface of an agent. Throws for a workspace that the agent does not have. */
export function narrowSurface(
  surface: AgentSurface,
  { workspaces, permissionMode, readOnly }: SessionLimits,
): AgentSurface {
  const names = new Set(surface.workspaces.map(({ name }) => name));
  const unknown = workspaces?.filter((name) => !names.has(name)) ?? [];
  if (unknown.length > 0) throw notGranted(unknown);
  const included = surface.workspaces.filter(({ name }) => workspaces?.includes(name) ?? true);
  const { stateless } = surface;
  return {
    workspaces: included.map((workspace) =>
      readOnly ? withoutSandbox(workspace) : withStricterMode(workspace, permissionMode),
    ),
    stateless: readOnly ? undefined : stateless && withMode(stateless, permissionMode),
  };
}

function withoutSandbox({ name, record }: AttachedWorkspace): AttachedWorkspace {
  return { name, record, reads: 'mount' };
}

function withStricterMode(workspace: AttachedWorkspace, mode: PermissionMode | undefined): AttachedWorkspace {
  return workspace.sandbox ? { ...workspace, sandbox: withMode(workspace.sandbox, mode) } : workspace;
}

function withMode<Sandbox extends NonNullable<AttachedWorkspace['sandbox']>>(
  sandbox: Sandbox,
  mode: PermissionMode | undefined,
): Sandbox {
  const permissionMode = stricter(sandbox.config.permissionMode, mode);
  return { ...sandbox, config: { ...sandbox.config, permissionMode } };
}

function notGranted(names: readonly string[]): AppError {
  return new AppError(
    'E_INVALID_INPUT',
    `a session cannot give a workspace that it does not have: ${names.join(', ')}`,
    {
      details: { workspaces: names },
    },
  );
}
