import { z } from 'zod';
import { lenientCount } from '../core/arguments/lenient-count.ts';
import { outlineDirectory } from '../core/code/outline/outline-directory.ts';
import {
  listOutline,
  type OutlineDetail,
  outlineDetails,
  renderOutlineItem,
} from '../core/code/outline/outline-file.ts';
import { parseFile } from '../core/code/symbols/find-symbol.ts';
import { defineTool, type ToolContext } from '../core/tools/tool.ts';

const defaultDepth = 4;
/** Names that programs get of each file in a directory. */
const maxNames = 8;

export const outline = defineTool({
  name: 'outline',
  toolset: 'code',
  isEveryday: true,
  aliases: ['document_symbols', 'documentSymbol', 'get_symbols_overview', 'lsp_symbols'],
  spellings: { aliases: { file_path: 'path', relative_path: 'path', file: 'path', directory: 'path' } },
  title: 'Outline',
  description:
    'List the definitions of a source file with their lines, or the source files of a directory with the names at their ' +
    'top. By syntax, so no language server is needed.',
  access: 'read',
  reach: 'one',
  paths: ['path'],
  timeoutMs: 30_000,
  input: z.object({
    path: z.string().default('').describe('File or directory, relative to the workspace root; the root if left out'),
    depth: lenientCount({ fallback: defaultDepth, max: 20 }).describe('Levels of definitions to show, for a file (4)'),
    detail: z
      .enum(outlineDetails)
      .default('signatures')
      .describe('names; signatures (default); members, which adds fields and doc comments'),
  }),
  output: z.object({
    path: z.string(),
    language: z.string().optional(),
    items: z
      .array(
        z.object({
          ...{ line: z.int(), endLine: z.int(), kind: z.string(), name: z.string(), container: z.string() },
          ...{ signature: z.string(), exported: z.boolean() },
        }),
      )
      .optional(),
    files: z.array(z.object({ path: z.string(), names: z.array(z.string()).optional() })).optional(),
    truncated: z.boolean(),
  }),
  async run({ path, depth, detail }, context) {
    const { path: real, kind } = await context.workspace.files.stat(path);
    return kind === 'directory' ? ofDirectory(real, context) : ofFile(path, { depth, detail }, context);
  },
});

async function ofFile(path: string, options: { depth: number; detail: OutlineDetail }, context: ToolContext) {
  const { file, parsed } = await parseFile(path, context);
  const { items, left } = listOutline(parsed, options);
  const rows = items.map((item) => `${renderOutlineItem(item, options.detail)}\n`).join('');
  const notes = [
    ...(left > 0 ? [`(${left} more definitions; pass a smaller depth)\n`] : []),
    ...(parsed.errors > 0 ? [`(${parsed.errors} syntax errors: the outline may lack definitions)\n`] : []),
    ...(items.length === 0 ? [`No definitions in ${path}.\n`] : []),
  ];
  return {
    text: rows === '' ? '' : `${file.path} (${parsed.language})\n${rows}`,
    notices: notes,
    structured: {
      ...{ path: file.path, language: parsed.language, truncated: left > 0 },
      items: items.map(({ symbol }) => ({
        ...{ line: symbol.at.line, endLine: symbol.endLine, kind: symbol.kind, name: symbol.name },
        ...{ container: symbol.containers.join('.'), signature: symbol.signature, exported: symbol.isExported },
      })),
    },
  };
}

async function ofDirectory(path: string, context: ToolContext) {
  const { text, files } = await outlineDirectory(path, context);
  const shown = files.slice(0, 200);
  return {
    text,
    notices: files.length === 0 ? ['No source files in a known language.\n'] : [],
    structured: {
      path,
      files: shown.map(({ path: file, names }) => ({ path: file, ...(names && { names: names.slice(0, maxNames) }) })),
      truncated: shown.length < files.length,
    },
  };
}
