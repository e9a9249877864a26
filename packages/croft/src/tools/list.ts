import { z } from 'zod';
import { lenientCount } from '../core/arguments/lenient-count.ts';
import { fitRows } from '../core/content/fit-rows.ts';
import type { DirectoryEntry } from '../core/files/files.ts';
import { defineTool } from '../core/tools/tool.ts';

export const list = defineTool({
  name: 'list',
  aliases: ['List', 'LS', 'list_directory'],
  spellings: { aliases: { dir_path: 'path', directory: 'path', file_path: 'path' } },
  title: 'List directory',
  description: 'List one directory by name, hidden files included: directories end in /, links show where they lead.',
  toolset: 'files',
  isEveryday: true,
  access: 'read',
  reach: 'one-or-all',
  paths: ['path'],
  input: z.object({
    path: z.string().default('').describe('Directory, relative to the workspace root; the root if left out'),
    limit: lenientCount({ fallback: 1000, max: 10_000 }).describe('Most entries to list (1000)'),
  }),
  output: z.object({
    path: z.string(),
    entries: z.array(
      z.object({
        name: z.string(),
        kind: z.enum(['file', 'directory', 'link', 'other']),
        size: z.int(),
        target: z.string().optional(),
      }),
    ),
    truncated: z.boolean(),
  }),
  async run({ path, limit }, { workspace }) {
    const { entries: found, cut, path: canonical } = await workspace.files.list(path, { limit });
    const entries = fitRows(found, (entry) => toLine(entry).length);
    const truncated = cut || entries.length < found.length;
    const note = truncated ? `(more than ${entries.length} entries; raise limit, or use glob)\n` : '';
    return {
      text: entries.map(toLine).join('') + note,
      notices: entries.length === 0 ? [`${canonical || 'The workspace'} is empty.\n`] : [],
      structured: { path: canonical, entries: [...entries], truncated },
    };
  },
});

function toLine({ name, kind, size, target }: DirectoryEntry): string {
  if (kind === 'directory') return `${name}/\n`;
  return kind === 'link' ? `${name} -> ${target}\n` : `${name}\t${size}\n`;
}
