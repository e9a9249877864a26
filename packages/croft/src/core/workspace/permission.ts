import { AppError } from '@croft/protocol';
import type { Tool, ToolAccess } from '../tools/tool.ts';
import type { Workspace } from './workspace.ts';

export const permissionModes = ['ask', 'edit', 'bypass'] as const;
export type PermissionMode = (typeof permissionModes)[number];

const accessesToApprove: Readonly<Record<PermissionMode, ReadonlySet<ToolAccess>>> = {
  ask: new Set(['write', 'execute']),
  edit: new Set(['execute']),
  bypass: new Set(),
};

/** Whether a call of such a tool needs the approval of a person. */
export function needsApproval(
  mode: PermissionMode,
  { access, isFollowUp }: Pick<Tool, 'access' | 'isFollowUp'>,
): boolean {
  return !isFollowUp && accessesToApprove[mode].has(access);
}

/**
 * Throws `E_READ_ONLY` for a tool that cannot work in a read-only workspace. Runs before approvals, so that nobody is
 * asked about a call that cannot run.
 */
export function checkAccess(
  workspace: Pick<Workspace, 'name' | 'access'>,
  { name, access }: Pick<Tool, 'name' | 'access'>,
  onReadOnly: ReadonlySet<string> | undefined,
): void {
  if (workspace.access === 'read-write') return;
  if (onReadOnly ? onReadOnly.has(name) : access === 'read') return;
  const reason = access === 'execute' ? ': no sandbox available for this command' : '';
  throw new AppError('E_READ_ONLY', `workspace is read-only${reason}`, { details: { workspace: workspace.name } });
}
