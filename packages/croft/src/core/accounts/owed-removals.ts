import { isInBucket } from '../runners/home.ts';
import type { Tables } from './records.ts';
import type { ResourceView, WorkspaceConfig } from './registry.ts';
import { findRunners, toRunner } from './runner-tokens.ts';

/**
 * Notes which runners may have files of a workspace, in the change that its record goes with: nothing that happens after
 * it, to the server or to them, can make that be forgotten. Any of them may have worked in what is in a bucket.
 */
export async function oweRemovals(tables: Tables, view: ResourceView<WorkspaceConfig>, now: Date): Promise<void> {
  const { accountId, id: workspaceId, config } = view;
  if (config.home === undefined && !isInBucket(view)) return;
  const runners = (await findRunners(tables, accountId, now)).map(toRunner);
  const owing = isInBucket(view) ? runners : runners.filter(({ name }) => name === config.home);
  const createdAt = now.toISOString();
  for (const { name: runner } of owing) await tables.removals.insert({ accountId, workspaceId, runner, createdAt });
}
