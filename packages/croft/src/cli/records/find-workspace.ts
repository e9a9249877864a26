import type { Client } from '@croft/sdk';
import { findRecord, workspaceKind } from './find-record.ts';

/** Finds a workspace by its name or id. The error for a missing one lists those that exist. */
export async function findWorkspace(client: Client, wanted: string) {
  return findRecord(await Array.fromAsync(client.workspaces.all()), wanted, workspaceKind);
}
