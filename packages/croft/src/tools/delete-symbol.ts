import { z } from 'zod';
import type { SymbolChange } from '../core/code/edit/change-symbol.ts';
import { spliceOut } from '../core/code/edit/splice-neighbour.ts';
import {
  locateSymbol,
  previewSymbolEdit,
  runSymbolEdit,
  symbolEditOutput,
} from '../core/code/edit/symbol-edit-tool.ts';
import { symbolAliases, symbolArguments } from '../core/code/symbols/symbol-arguments.ts';
import { findTextReferences, stillMentioned } from '../core/code/symbols/text-references.ts';
import { defineTool, type ToolContext } from '../core/tools/tool.ts';

const input = z.object({
  ...symbolArguments,
  force: z.boolean().default(false).describe('Delete it although other code mentions it'),
});

const name = 'delete_symbol';

export const deleteSymbol = defineTool({
  toolset: 'code',
  name,
  aliases: ['safe_delete_symbol'],
  spellings: { aliases: { ...symbolAliases, name_path_pattern: 'symbol' } },
  title: 'Delete symbol',
  description:
    'Delete a definition with its doc comment and decorators. The file or the symbol must have been read. If other code ' +
    'mentions its name, the mentions are listed and nothing is deleted, unless force is set.',
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

async function toChange({ force, ...query }: z.output<typeof input>, context: ToolContext): Promise<SymbolChange> {
  const { path, locate } = await locateSymbol(query, context);
  return {
    ...{ path, locate, text: '', kind: 'removal', splice: spliceOut },
    async check(symbol) {
      if (force) return;
      const found = await findTextReferences({ path, symbol }, context);
      if (found.length > 0) throw stillMentioned(symbol, found);
    },
  };
}
