import { z } from 'zod';
import { findSymbol } from '../core/code/symbols/find-symbol.ts';
import { showSymbol } from '../core/code/symbols/show-symbol.ts';
import { symbolAliases, symbolArguments } from '../core/code/symbols/symbol-arguments.ts';
import { defineTool } from '../core/tools/tool.ts';

export const readSymbol = defineTool({
  name: 'read_symbol',
  toolset: 'code',
  aliases: ['readSymbol'],
  spellings: { aliases: symbolAliases },
  title: 'Read symbol',
  description:
    'Show one definition with its doc comment and decorators, by name or by position. It may then be changed with the ' +
    'symbol tools although the rest of the file has not been read.',
  access: 'read',
  reach: 'one',
  paths: ['file_path'],
  timeoutMs: 30_000,
  input: z.object(symbolArguments),
  output: z.object({
    path: z.string(),
    symbol: z.string().describe('Name of the symbol with its containers'),
    kind: z.string(),
    signature: z.string(),
    startLine: z.int(),
    endLine: z.int(),
    content: z.string(),
    truncated: z.boolean(),
  }),
  async run(call, context) {
    return showSymbol(await findSymbol(call, context), context);
  },
});
