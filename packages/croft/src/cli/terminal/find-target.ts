import type { Client } from '@croft/sdk';
import { UsageError } from '../../lib/usage-error.ts';

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
  const workspaceRow = pick(workspaces, workspace, ({ workspaceId }) => workspaceId, 'workspace');
  const box =
    sandbox === undefined ? only(sandboxes) : pick(sandboxes, sandbox, ({ sandboxId }) => sandboxId, 'sandbox');
  return { workspaceId: workspaceRow.workspaceId, sandboxId: box.sandboxId };
}

function pick<Row extends { name: string }>(
  rows: readonly Row[],
  wanted: string,
  idOf: (row: Row) => string,
  kind: string,
): Row {
  const found = rows.find((row) => row.name === wanted || idOf(row) === wanted);
  if (found) return found;
  throw new UsageError(
    `there is no ${kind} ${wanted}; there are: ${rows.map(({ name }) => name).join(', ') || 'none'}`,
  );
}

function only<Row extends { name: string }>(rows: readonly Row[]): Row {
  const [first, ...others] = rows;
  if (first && others.length === 0) return first;
  throw new UsageError(`say which sandbox: --sandbox NAME, of: ${rows.map(({ name }) => name).join(', ') || 'none'}`);
}
