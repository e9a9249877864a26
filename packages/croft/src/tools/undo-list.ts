import { z } from 'zod';
import { lenientCount } from '../core/arguments/lenient-count.ts';
import { checkpointOutput, renderCheckpoint, toCheckpointOutput } from '../core/history/outputs/tree-report-output.ts';
import { defineTool } from '../core/tools/tool.ts';
import { mustHaveHistory } from '../core/workspace/must-have-history.ts';

export const undoList = defineTool({
  name: 'undo_list',
  title: 'List what can be undone',
  description:
    'List the last calls that changed files of the workspace, newest first, each by its checkpoint for undo.',
  toolset: 'history',
  access: 'read',
  reach: 'one',
  input: z.object({
    limit: lenientCount({ fallback: 20, max: 200 }).describe('Most checkpoints to list (20, at most 200)'),
  }),
  output: z.object({ checkpoints: z.array(checkpointOutput) }),
  async run({ limit }, { workspace }) {
    const checkpoints = await mustHaveHistory(workspace).checkpoints(limit);
    const text =
      checkpoints.length === 0 ? 'no call has changed files yet' : checkpoints.map(renderCheckpoint).join('\n');
    return { text, structured: { checkpoints: checkpoints.map(toCheckpointOutput) } };
  },
});
