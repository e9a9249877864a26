import { z } from 'zod';
import { spliceAfter } from '../core/code/edit/splice-neighbour.ts';
import {
  locateSymbol,
  previewSymbolEdit,
  runSymbolEdit,
  symbolEditOutput,
} from '../core/code/edit/symbol-edit-tool.ts';
import { symbolAliases, symbolArguments } from '../core/code/symbols/symbol-arguments.ts';
import { defineTool, type ToolContext } from '../core/tools/tool.ts';

const input = z.object({
  ...symbolArguments,
  text: z.string().min(1).describe('Text to insert; it is indented like the symbol'),
});

const name = 'insert_after_symbol';

export const insertAfterSymbol = defineTool({
  toolset: 'code',
  name,
  spellings: { aliases: { ...symbolAliases, body: 'text', new_text: 'text', content: 'text' } },
  title: 'Insert after symbol',
  description:
    'Insert text after a definition, with the blank lines that its neighbours have. The ' +
    'file or the symbol must have been read. A result that does not parse is refused.',
  access: 'write',
  reach: 'one',
  reportsChanges: true,
  paths: ['file_path'],
  changes: ['file_path'],
  input,
  output: symbolEditOutput,
  preview: async (call, context) => previewSymbolEdit(name, context, await toChange(call, context)),
  run: async (call, context) => runSymbolEdit(name, context, await toChange(call, context)),
});

async function toChange({ text, ...query }: z.output<typeof input>, context: ToolContext) {
  return { ...(await locateSymbol(query, context)), text, kind: 'insertion', splice: spliceAfter } as const;
}
