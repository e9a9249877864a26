import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { type PermissionMode, permissionModes } from '../permission.ts';
import type { AttachedWorkspace, Surface } from './cascade.ts';

/** What a child session has less than its agent. Nothing in it can give more. */
export const Fence = z.object({
  workspaces: z.array(z.string()).min(1).optional().describe('Only these, by name; all if left out'),
  permissionMode: z.enum(permissionModes).optional().describe('At least as strict as this'),
  readOnly: z.boolean().optional().describe('Nothing may be changed or run'),
});
export type Fence = z.output<typeof Fence>;

/** From the strictest on. */
function stricter(one: PermissionMode, other: PermissionMode | undefined): PermissionMode {
  return permissionModes.find((mode) => mode === one || mode === other) ?? 'ask';
}

/** The fence of a child of a session that has one itself. */
export function tighten(outer: Fence, inner: Fence): Fence {
  const workspaces = outer.workspaces
    ? (inner.workspaces ?? outer.workspaces).filter((name) => outer.workspaces?.includes(name))
    : inner.workspaces;
  if (workspaces?.length === 0) throw beyond(inner.workspaces ?? []);
  return {
    // In one spelling: what an agent runs is kept by its fence.
    workspaces: workspaces && [...new Set(workspaces)].sort(),
    permissionMode: outer.permissionMode ? stricter(outer.permissionMode, inner.permissionMode) : inner.permissionMode,
    readOnly: outer.readOnly || inner.readOnly,
  };
}

/** What is left of what an agent has. A workspace that it does not have is no way to one. */
export function narrow(surface: Surface, { workspaces, permissionMode, readOnly }: Fence): Surface {
  const names = new Set(surface.workspaces.map(({ name }) => name));
  const unknown = workspaces?.filter((name) => !names.has(name)) ?? [];
  if (unknown.length > 0) throw beyond(unknown);
  const kept = surface.workspaces.filter(({ name }) => workspaces?.includes(name) ?? true);
  const { stateless } = surface;
  return {
    workspaces: kept.map((workspace) => (readOnly ? closed(workspace) : strict(workspace, permissionMode))),
    stateless: readOnly ? undefined : stateless && withMode(stateless, permissionMode),
  };
}

function closed({ name, record }: AttachedWorkspace): AttachedWorkspace {
  return { name, record, reads: 'mount' };
}

function strict(workspace: AttachedWorkspace, mode: PermissionMode | undefined): AttachedWorkspace {
  return workspace.sandbox ? { ...workspace, sandbox: withMode(workspace.sandbox, mode) } : workspace;
}

function withMode<Sandbox extends NonNullable<AttachedWorkspace['sandbox']>>(
  sandbox: Sandbox,
  mode: PermissionMode | undefined,
): Sandbox {
  const permissionMode = stricter(sandbox.config.permissionMode, mode);
  return { ...sandbox, config: { ...sandbox.config, permissionMode } };
}

function beyond(names: readonly string[]): AppError {
  return new AppError('E_INVALID_INPUT', `a session cannot give what it does not have: ${names.join(', ')}`, {
    details: { workspaces: names },
  });
}
