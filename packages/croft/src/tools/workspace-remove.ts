import { z } from 'zod';
import { defineTool } from '../core/tools/tool.ts';
import { mustHaveForks } from '../core/workspace/must-have-history.ts';

export const workspaceRemove = defineTool({
  name: 'workspace_remove',
  title: 'Remove a fork',
  description: 'Remove a fork of this workspace with all its files. Nothing else can be removed.',
  toolset: 'forks',
  access: 'write',
  leavesFiles: true,
  reach: 'one',
  input: z.object({ fork: z.string().min(1).describe('Name of the fork') }),
  output: z.object({ removed: z.string() }),
  async run({ fork }, { workspace }) {
    await mustHaveForks(workspace).remove(fork);
    return { text: `removed ${fork}`, structured: { removed: fork } };
  },
});
