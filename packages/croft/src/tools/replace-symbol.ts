import { z } from 'zod';
import { spliceDefinition } from '../core/code/edit/splice-definition.ts';
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
  new_text: z.string().min(1).describe('The whole definition, with its doc comment and decorators'),
});

const name = 'replace_symbol';

export const replaceSymbol = defineTool({
  toolset: 'code',
  name,
  aliases: ['replace_symbol_body'],
  spellings: { aliases: { ...symbolAliases, body: 'new_text', text: 'new_text' } },
  title: 'Replace symbol',
  description:
    'Replace a whole definition with its doc comment and decorators, exactly what read_symbol shows. The file or the ' +
    'symbol must have been read. Its name stays, and a result that does not parse is refused.',
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

async function toChange({ new_text: text, ...query }: z.output<typeof input>, context: ToolContext) {
  return { ...(await locateSymbol(query, context)), text, kind: 'symbol', splice: spliceDefinition } as const;
}
