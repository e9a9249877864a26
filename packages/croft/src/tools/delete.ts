import { z } from 'zod';
import { defineTool } from '../core/tools/tool.ts';

export const deleteFile = defineTool({
  name: 'delete',
  aliases: ['Delete', 'file-delete', 'delete_file'],
  spellings: { aliases: { path: 'file_path' } },
  title: 'Delete file',
  description:
    'Delete a file, a link (what it leads to stays), an empty directory or, with recursive, a directory with all in it.',
  toolset: 'files',
  isEveryday: true,
  access: 'write',
  reach: 'one',
  paths: ['file_path'],
  changes: ['file_path'],
  input: z.object({
    file_path: z.string().min(1).describe('Path of the file or directory, relative to the workspace root'),
    recursive: z.boolean().default(false).describe('Delete a directory with everything in it'),
  }),
  output: z.object({ path: z.string(), kind: z.enum(['file', 'directory', 'link', 'other']), removed: z.int() }),
  async run({ file_path: path, recursive }, { workspace, session, signal }) {
    const removal = await workspace.files.remove(path, { recursive, signal });
    session.reads.forget(workspace.name, removal.path);
    const extent = removal.removed > 1 ? ` (${removal.removed} entries)` : '';
    return { text: `deleted ${path}${extent}`, structured: removal };
  },
});
