import type { Tables } from '../ports/records.ts';
import type { ResourceView, WorkspaceConfig } from '../ports/registry.ts';

/**
 * Notes that another server has the files of a removed workspace, in the transaction that removes its record. That
 * server removes them as soon as it runs.
 */
export async function noteOrphanedFiles(
  { dataDirectories }: Pick<Tables, 'dataDirectories'>,
  { accountId, id: workspaceId, directory }: Pick<ResourceView<WorkspaceConfig>, 'accountId' | 'id' | 'directory'>,
  here: string | undefined,
): Promise<void> {
  if (directory === undefined || directory === here) return;
  await dataDirectories.addOrphaned({ directory, accountId, workspaceId });
}
