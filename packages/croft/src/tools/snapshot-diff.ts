import { z } from 'zod';
import { mustHaveHistory } from '../core/history/must-have-history.ts';
import { renderDiff } from '../core/history/report-output.ts';
import { defineTool } from '../core/tool.ts';

const maxChanges = 2000;

export const snapshotDiff = defineTool({
  name: 'snapshot_diff',
  title: 'Compare with a snapshot',
  description:
    'Show what changed since a snapshot, or between two: every path that was added, changed or removed, with a unified ' +
    'diff of text files.',
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
        diff: z.string().optional().describe('Left out of what is no text, or too long'),
      }),
    ),
  }),
  async run({ name, to }, { workspace, signal }) {
    const diffs = await mustHaveHistory(workspace).diff({ from: name, to, signal });
    const changes = diffs.slice(0, maxChanges).map(({ path, before, after, text }) => ({
      path: path.toWellFormed(),
      change: !before ? ('added' as const) : !after ? ('removed' as const) : ('changed' as const),
      ...(text !== undefined && { diff: text }),
    }));
    const text = diffs.length === 0 ? 'no differences' : diffs.map(renderDiff).join('');
    return { text, structured: { paths: diffs.length, changes } };
  },
});
