import { AppError } from '@croft/protocol';
import type { Tool, ToolAccess } from './tool.ts';
import type { Workspace } from './workspace.ts';

export const permissionModes = ['ask', 'edit', 'bypass'] as const;
export type PermissionMode = (typeof permissionModes)[number];

const asks: Readonly<Record<PermissionMode, ReadonlySet<ToolAccess>>> = {
  ask: new Set(['write', 'execute']),
  edit: new Set(['execute']),
  bypass: new Set(),
};

/** Whether a person has to agree to a call of such a tool. */
export function mustAsk(mode: PermissionMode, { access, isFollowUp }: Pick<Tool, 'access' | 'isFollowUp'>): boolean {
  return !isFollowUp && asks[mode].has(access);
}

/** Throws `E_READ_ONLY` for what cannot be done there, so that nobody is asked to agree to it. */
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
