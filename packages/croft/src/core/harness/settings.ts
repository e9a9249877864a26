import type { WorkspaceConfig } from '../accounts/registry.ts';

/** Guidance can be switched off; a memory that is there is loaded all the same. */
export function hasGuidance({ harness }: WorkspaceConfig): boolean {
  return harness?.enabled !== false && harness?.workspace?.enabled !== false;
}

/** Whether an agent may add to the memory of such a workspace. */
export function hasMemory({ harness }: WorkspaceConfig): boolean {
  return harness?.enabled !== false && harness?.memory?.enabled !== false;
}
