import { findRunnerKeys, toRunnerToken } from '../keys/runner-tokens.ts';
import type { Tables } from '../ports/records.ts';
import type { ResourceView, WorkspaceConfig } from '../ports/registry.ts';
import { isInBucket } from '../surface/workspace-location.ts';

/**
 * Records which runners may have files of a removed workspace, in the transaction that removes its record: no later
 * crash can make them be forgotten. Any runner may have worked on a workspace in a bucket.
 */
export async function recordPendingRemovals(
  tables: Tables,
  view: ResourceView<WorkspaceConfig>,
  now: Date,
): Promise<void> {
  const { accountId, id: workspaceId, config } = view;
  if (config.home === undefined && !isInBucket(view)) return;
  const runners = (await findRunnerKeys(tables, accountId, now)).map(toRunnerToken);
  const holders = isInBucket(view) ? runners : runners.filter(({ name }) => name === config.home);
  const createdAt = now.toISOString();
  for (const { name: runner } of holders) await tables.removals.insert({ accountId, workspaceId, runner, createdAt });
}
