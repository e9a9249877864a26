import { z } from 'zod';
import { symbolAliases, symbolArguments } from '../core/code/symbols/symbol-arguments.ts';
import { defineTool } from '../core/tools/tool.ts';

export const hover = defineTool({
  name: 'hover',
  aliases: ['lsp_hover'],
  spellings: { aliases: symbolAliases },
  title: 'Describe symbol',
  description: 'Show the type and the documentation of a symbol, as its language server knows them.',
  toolset: 'code',
  access: 'read',
  reach: 'one',
  paths: ['file_path'],
  timeoutMs: 90_000,
  input: z.object(symbolArguments),
  output: z.object({ path: z.string(), line: z.int(), col: z.int(), content: z.string() }),
  async run(question, context) {
    const { path, line, col, content } = await context.workspace.code.hover(question, context);
    const text = content === '' ? `nothing is known about the symbol at ${path}:${line}:${col}\n` : `${content}\n`;
    return { text, structured: { path, line, col, content } };
  },
});
