import type { WorkspaceConfig } from '../ports/registry.ts';

/** Whether a workspace has guidance. Switching it off does not affect loading an existing memory. */
export function hasGuidance({ harness }: WorkspaceConfig): boolean {
  return harness?.enabled !== false && harness?.workspace?.enabled !== false;
}

/** Whether an agent may add to the memory of the workspace. */
export function hasMemory({ harness }: WorkspaceConfig): boolean {
  return harness?.enabled !== false && harness?.memory?.enabled !== false;
}
