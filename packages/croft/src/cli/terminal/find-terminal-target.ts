import type { Client } from '@croft/sdk';
import { findRecord, onlyRecord, sandboxKind, workspaceKind } from '../records/find-record.ts';

export interface TerminalTarget {
  readonly workspaceId: string;
  readonly sandboxId: string;
}

/** Finds workspace and sandbox by name or id. The error for a missing one lists those that exist. */
export async function findTerminalTarget(
  client: Client,
  workspace: string,
  sandbox: string | undefined,
): Promise<TerminalTarget> {
  const [workspaces, sandboxes] = await Promise.all([
    Array.fromAsync(client.workspaces.all()),
    Array.fromAsync(client.sandboxes.all()),
  ]);
  const { workspaceId } = findRecord(workspaces, workspace, workspaceKind);
  const { sandboxId } =
    sandbox === undefined
      ? onlyRecord(sandboxes, '--sandbox', sandboxKind)
      : findRecord(sandboxes, sandbox, sandboxKind);
  return { workspaceId, sandboxId };
}
