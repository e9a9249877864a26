import type { Checkpoint } from '@croft/protocol';
import type { FeedRow } from '../../live/feed-row.ts';
import { mayDo } from '../../server/session.ts';
import { useResource } from '../../server/use-resource.ts';

const slackMs = 1000;

/**
 * Finds the checkpoint of a call. Older checkpoints, and those of runners, do not name their call: then exactly one
 * must fit.
 */
export function findCheckpointOf(row: FeedRow, checkpoints: readonly Checkpoint[]): Checkpoint | undefined {
  const own = checkpoints.find(({ call }) => call === row.key);
  if (own) return own;
  const start = Date.parse(row.at) - slackMs;
  const end = Date.parse(row.at) + (row.durationMs ?? 0) + slackMs;
  const [found, ...others] = checkpoints.filter(({ tool, title, at, checkpointId, call }) => {
    if (call !== undefined) return false;
    if (row.checkpoint !== undefined) return checkpointId === row.checkpoint;
    const time = Date.parse(at);
    return tool === row.tool && isSameTitle(title, row.title) && time >= start && time <= end;
  });
  return others.length === 0 ? found : undefined;
}

/** The title of a record is cut sooner than that of a checkpoint. */
function isSameTitle(title: string, cut: string): boolean {
  return title === cut || (cut.length > 40 && title.startsWith(cut.replace(/…$/, '')));
}

/** Finds the checkpoint that undoes the call of a row. The record of a call does not always name it. */
export function useCheckpointOf(row: FeedRow): Checkpoint | undefined {
  const workspaceId = row.workspaceId || row.workspace;
  const isAsked = row.outcome !== 'running' && row.outcome !== 'change' && workspaceId !== '' && mayDo('read');
  const path = `/v1/workspaces/${encodeURIComponent(workspaceId)}/checkpoints?limit=200`;
  const { data } = useResource<{ checkpoints: readonly Checkpoint[] }>(isAsked ? path : undefined).value;
  return data && findCheckpointOf(row, data.checkpoints);
}
