import { z } from 'zod';
import {
  countPaths,
  renderTreeReport,
  toTreeReportOutput,
  treeReportOutput,
} from '../core/history/outputs/tree-report-output.ts';
import { defineTool } from '../core/tools/tool.ts';
import { mustHaveForks } from '../core/workspace/must-have-history.ts';

const { takenBackBy: _, ...paths } = treeReportOutput;

export const workspaceMerge = defineTool({
  name: 'workspace_merge',
  title: 'Merge a fork',
  description:
    'Bring what a fork changed since it was made, or last merged, into the workspace it was forked from: path by path, and ' +
    'line by line where both changed a text. Neither ignored files nor .git. On a conflict nothing is changed, unless ' +
    'on_conflict says whose version to take. Undo takes it back.',
  toolset: 'forks',
  access: 'write',
  reach: 'one',
  input: z.object({
    fork: z.string().min(1).describe('Name of the fork'),
    on_conflict: z
      .enum(['refuse', 'ours', 'theirs', 'markers'])
      .default('refuse')
      .describe('Where both changed the same: refuse, keep ours, take theirs (the fork’s), or both between markers'),
  }),
  output: z.object({
    ...paths,
    merged: z.array(z.string()).describe('Files that hold changes of both'),
    conflicts: z
      .array(z.object({ path: z.string(), reason: z.string() }))
      .describe('Conflicts that on_conflict decided'),
  }),
  timeoutMs: 600_000,
  async run({ fork, on_conflict: onConflict }, { workspace, signal }) {
    const { report, merged, conflicts } = await mustHaveForks(workspace).merge({ fork, onConflict, signal });
    const decided = conflicts.map(({ path, reason }) => ({ path: path.toWellFormed(), reason }));
    const lines = decided.map(({ path, reason }) => `conflict, ${onConflict}: ${path} (${reason})`);
    const { takenBackBy: __, ...structured } = toTreeReportOutput(report);
    return {
      text: [`merged ${fork}: ${countPaths(report)} paths`, ...renderTreeReport(report), ...lines].join('\n'),
      structured: { ...structured, merged: merged.map((path) => path.toWellFormed()), conflicts: decided },
    };
  },
});
