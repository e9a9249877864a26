import { z } from 'zod';
import { detailOf, renderDiff } from '../core/history/outputs/tree-report-output.ts';
import type { FileDiff } from '../core/history/ports/history.ts';
import { defineTool } from '../core/tools/tool.ts';
import { mustHaveHistory } from '../core/workspace/must-have-history.ts';

const maxChanges = 2000;

export const snapshotDiff = defineTool({
  name: 'snapshot_diff',
  title: 'Compare with a snapshot',
  description:
    'Show what changed since a snapshot, or between two: every path that was added, changed or removed, with a unified ' +
    'diff of text files.',
  toolset: 'history',
  access: 'read',
  reach: 'one',
  input: z.object({
    name: z.string().min(1).describe('The snapshot to compare with'),
    to: z.string().min(1).optional().describe('Another snapshot, the newer one; the files as they are now if left out'),
  }),
  output: z.object({
    paths: z.int().describe('How many in all; the list holds 2000 at most'),
    changes: z.array(
      z.object({
        path: z.string(),
        change: z.enum(['added', 'changed', 'removed']),
        detail: z.string().optional().describe('Another kind or mode, or the sizes of binary files'),
        diff: z.string().optional().describe('Absent for binary files and diffs that are too long'),
      }),
    ),
  }),
  async run({ name, to }, { workspace, signal }) {
    const diffs = await mustHaveHistory(workspace).diff({ from: name, to, signal });
    const changes = diffs.slice(0, maxChanges).map(toChange);
    const text = diffs.length === 0 ? 'no differences' : diffs.map(renderDiff).join('');
    return { text, structured: { paths: diffs.length, changes } };
  },
});

function toChange(diff: FileDiff) {
  const { path, before, after, text } = diff;
  const detail = detailOf(diff);
  return {
    path: path.toWellFormed(),
    change: !before ? ('added' as const) : !after ? ('removed' as const) : ('changed' as const),
    ...(detail !== '' && { detail }),
    ...(text !== undefined && { diff: text }),
  };
}
