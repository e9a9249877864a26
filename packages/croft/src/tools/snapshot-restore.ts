import { AppError } from '@croft/protocol';
import { z } from 'zod';
import {
  countPaths,
  renderDiff,
  renderTreeReport,
  toTreeReportOutput,
  treeReportOutput,
} from '../core/history/outputs/tree-report-output.ts';
import { defineTool } from '../core/tools/tool.ts';
import { mustHaveHistory } from '../core/workspace/must-have-history.ts';

const input = z.object({
  name: z.string().min(1).optional().describe('The snapshot to go back to'),
  green: z.boolean().default(false).describe('Instead of a name: the last state whose tests passed'),
});

export const snapshotRestore = defineTool({
  name: 'snapshot_restore',
  title: 'Restore a snapshot',
  description:
    'Restore the files of a snapshot, or with green: true those of the last state whose tests passed, and answer every ' +
    'path that was added, changed or removed. Ignored files that the snapshot does not have stay as they are, and every ' +
    '.git always stays. The state before the restore becomes a snapshot too.',
  toolset: 'history',
  access: 'write',
  reach: 'one',
  input,
  output: z.object({ snapshot: z.string(), ...treeReportOutput }),
  async preview(call, { workspace, signal }) {
    const target = toTarget(call);
    if (target === 'green') return 'go back to the last state whose tests passed';
    const diffs = await mustHaveHistory(workspace).diff({ from: target.name, signal });
    return `take back what changed since ${target.name}:\n${diffs.map(renderDiff).join('')}`;
  },
  async run(call, { workspace, signal }) {
    const { snapshot, report } = await mustHaveHistory(workspace).restore(toTarget(call), signal);
    const changed = countPaths(report);
    if (changed + report.refused.length === 0) {
      const text = `restored snapshot ${snapshot} (no files changed)`;
      return { text, structured: { snapshot, ...toTreeReportOutput(report) } };
    }
    const back = report.takenBackBy === '' ? [] : [`to take this back, restore ${report.takenBackBy}`];
    const head = `restored snapshot ${snapshot} (${changed} ${changed === 1 ? 'file' : 'files'} changed):`;
    const text = [head, ...renderTreeReport(report), ...back].join('\n');
    return { text, structured: { snapshot, ...toTreeReportOutput(report) } };
  },
});

function toTarget({ name, green }: z.output<typeof input>): { name: string } | 'green' {
  if (green === (name !== undefined))
    throw new AppError('E_INVALID_INPUT', 'name is required, or green: true instead of it', {
      details: { arguments: ['name'] },
    });
  return name === undefined ? 'green' : { name };
}
