import { AppError } from '@croft/protocol';
import { z } from 'zod';
import {
  checkpointOutput,
  renderCheckpoint,
  renderTreeReport,
  toCheckpointOutput,
  toTreeReportOutput,
  treeReportOutput,
} from '../core/history/outputs/tree-report-output.ts';
import { defineTool } from '../core/tools/tool.ts';
import { mustHaveHistory } from '../core/workspace/must-have-history.ts';

const maxCalls = 200;

const input = z.object({
  calls: z
    .int()
    .min(1)
    .max(maxCalls)
    .optional()
    .describe('Take back this many of the last calls that changed files (1)'),
  checkpoint: z.string().min(1).optional().describe('Take back this one instead; undo_list has them'),
});

export const undo = defineTool({
  name: 'undo',
  title: 'Undo calls',
  description:
    'Undo the changes of the last calls in the workspace, or of one of them: of every tool (bash too), by every caller. ' +
    'All of it or nothing: a path that was changed again since is E_CONFLICT. Ignored files and everything in a .git ' +
    'stay as they are.',
  toolset: 'history',
  isEveryday: true,
  access: 'write',
  reach: 'one',
  input,
  output: z.object({ undone: z.array(checkpointOutput), ...treeReportOutput }),
  async preview(call, { workspace }) {
    const target = toTarget(call);
    if ('id' in target) return `undo ${target.id}`;
    const latest = await mustHaveHistory(workspace).checkpoints(maxCalls);
    return `undo the last ${target.count} of:\n${latest
      .slice(0, target.count + 10)
      .map(renderCheckpoint)
      .join('\n')}`;
  },
  async run(call, { workspace, signal }) {
    const { undone, report } = await mustHaveHistory(workspace).undo(toTarget(call), signal);
    const back = report.takenBackBy === '' ? [] : [`to take this back, undo the checkpoint ${report.takenBackBy}`];
    const lines = ['undone:', ...undone.map(renderCheckpoint), ...renderTreeReport(report), ...back];
    return {
      text: lines.join('\n'),
      structured: { undone: undone.map(toCheckpointOutput), ...toTreeReportOutput(report) },
    };
  },
});

function toTarget({ calls, checkpoint }: z.output<typeof input>) {
  if (checkpoint === undefined) return { count: calls ?? 1 };
  if (calls === undefined) return { id: checkpoint };
  throw new AppError('E_INVALID_INPUT', 'either calls or checkpoint, not both', { details: { arguments: ['calls'] } });
}
