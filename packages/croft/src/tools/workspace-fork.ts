import { z } from 'zod';
import { defineTool } from '../core/tools/tool.ts';
import { mustHaveForks } from '../core/workspace/must-have-history.ts';

export const workspaceFork = defineTool({
  name: 'workspace_fork',
  title: 'Fork the workspace',
  description:
    'Make a new workspace with the files of this one, ignored files and .git included, or with those of a snapshot. ' +
    'Changes in one do not touch the other. Work in it by its name as workspace; workspace_merge brings changes back.',
  toolset: 'forks',
  access: 'write',
  keepsMore: true,
  leavesFiles: true,
  reach: 'one',
  input: z.object({
    name: z.string().min(1).describe('Name of the new workspace'),
    snapshot: z.string().min(1).optional().describe('Start as this snapshot was, not as it is now'),
  }),
  output: z.object({ name: z.string(), workspaceId: z.string(), parent: z.string(), createdAt: z.string() }),
  timeoutMs: 600_000,
  async run({ name, snapshot }, { workspace, session, signal }) {
    const fork = await mustHaveForks(workspace).fork({ name, snapshot, session: session.id, signal });
    return {
      text: `forked ${fork.parent} as ${fork.name}; pass workspace: "${fork.name}" to work in it`,
      structured: fork,
    };
  },
});
