import { z } from 'zod';
import { defineTool } from '../core/tools/tool.ts';
import { mustHaveHistory } from '../core/workspace/must-have-history.ts';

export const snapshotDelete = defineTool({
  name: 'snapshot_delete',
  title: 'Delete a snapshot',
  description: 'Forget a snapshot. The files of the workspace stay as they are.',
  toolset: 'history',
  access: 'write',
  leavesFiles: true,
  reach: 'one',
  input: z.object({ name: z.string().min(1).describe('The snapshot to forget') }),
  output: z.object({ name: z.string() }),
  async run({ name }, { workspace }) {
    await mustHaveHistory(workspace).remove(name);
    return { text: `deleted snapshot ${name}`, structured: { name } };
  },
});
