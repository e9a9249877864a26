import { z } from 'zod';
import { effectOutput } from '../core/checks/effect-output.ts';
import { defineTool } from '../core/tool.ts';

export const move = defineTool({
  name: 'move',
  aliases: ['Move', 'move_file'],
  title: 'Move file',
  description: 'Move or rename a file, a link or a directory. Never replaces what is there; makes missing directories.',
  access: 'write',
  reach: 'one',
  paths: ['from', 'to'],
  input: z.object({
    from: z.string().min(1).describe('Path of what to move, relative to the workspace root'),
    to: z.string().min(1).describe('Path it shall have, relative to the workspace root'),
  }),
  output: z.object({
    from: z.string(),
    to: z.string(),
    kind: z.enum(['file', 'directory', 'link', 'other']),
    ...effectOutput,
  }),
  async run({ from, to }, { workspace, session }) {
    const moved = await workspace.files.rename(from, to);
    session.reads.forget(workspace.name, moved.from);
    // What it imports, and the rules for its place, may be others now.
    return { text: `moved ${from} to ${to}`, structured: moved, touched: moved.kind === 'file' ? [moved.to] : [] };
  },
});
