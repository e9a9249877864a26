import { z } from 'zod';
import { defineTool } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';

export const workspaces = defineTool({
  name: 'workspaces',
  aliases: ['Workspaces'],
  title: 'List workspaces',
  description: 'List the workspaces: name, root, whether files may be changed, and the ecosystems they are made of.',
  access: 'read',
  reach: 'none',
  input: z.object({}),
  output: z.object({
    workspaces: z.array(
      z.object({
        name: z.string(),
        root: z.string().describe('Absolute path of the root; paths below it may be used instead of relative ones'),
        access: z.enum(['read-write', 'read-only']),
        profile: z.object({ ecosystems: z.array(z.string()) }),
      }),
    ),
  }),
  async run(_input, { workspaces: set }) {
    const rows = await Promise.all(set.list().map(describe));
    return {
      text: rows
        .map(({ name, root, access, profile }) => [name, root, access, profile.ecosystems.join('+')].join('\t'))
        .join('\n'),
      structured: { workspaces: rows },
    };
  },
});

async function describe({ name, root, access, profile }: Workspace) {
  const { ecosystems } = await profile();
  return { name, root, access, profile: { ecosystems: [...ecosystems] } };
}
