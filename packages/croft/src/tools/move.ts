import { z } from 'zod';
import { postEditOutput } from '../core/checks/post-edit/post-edit-output.ts';
import { defineTool } from '../core/tools/tool.ts';

export const move = defineTool({
  name: 'move',
  aliases: ['Move', 'move_file'],
  spellings: { aliases: { source: 'from', destination: 'to', source_path: 'from', destination_path: 'to' } },
  title: 'Move file',
  description: 'Move or rename a file, a link or a directory. Never replaces what is there; makes missing directories.',
  toolset: 'files',
  isEveryday: true,
  access: 'write',
  reach: 'one',
  paths: ['from', 'to'],
  // Only `from` can be approved as a change: the content at `from` may differ by the time `to` is written.
  changes: ['from'],
  input: z.object({
    from: z.string().min(1).describe('Path of what to move, relative to the workspace root'),
    to: z.string().min(1).describe('Path it shall have, relative to the workspace root'),
  }),
  output: z.object({
    from: z.string(),
    to: z.string(),
    kind: z.enum(['file', 'directory', 'link', 'other']),
    ...postEditOutput,
  }),
  async run({ from, to }, { workspace, session }) {
    const moved = await workspace.files.rename(from, to);
    session.reads.forget(workspace.name, moved.from);
    // The moved file is checked again: its imports, and the lint rules for its new directory, may differ.
    return { text: `moved ${from} to ${to}`, structured: moved, touched: moved.kind === 'file' ? [moved.to] : [] };
  },
});
