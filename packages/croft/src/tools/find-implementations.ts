import { z } from 'zod';
import { findDefinitions } from '../core/code/servers/find-definitions.ts';
import { renderByFile } from '../core/code/servers/reference-pages.ts';
import { answerFields, SourceLocation } from '../core/code/servers/source-locations.ts';
import { symbolAliases, symbolArguments } from '../core/code/symbols/symbol-arguments.ts';
import { defineTool } from '../core/tools/tool.ts';

export const findImplementations = defineTool({
  name: 'find_implementations',
  aliases: ['find_implementation', 'goToImplementation'],
  spellings: { aliases: symbolAliases },
  title: 'Find implementations',
  description: 'Find the implementations of an interface, an abstract class or a method. Needs a language server.',
  toolset: 'code',
  access: 'read',
  reach: 'one',
  paths: ['file_path'],
  timeoutMs: 90_000,
  input: z.object(symbolArguments),
  output: z.object({ items: z.array(SourceLocation), total: z.int(), ...answerFields }),
  async run(question, context) {
    const found = await findDefinitions(question, context, { method: 'textDocument/implementation', isExact: true });
    const { at, items, precision, complete, notes } = found;
    const head =
      items.length === 0
        ? `no implementations found at ${at}`
        : `Found ${items.length} implementation(s) for symbol at ${at}:`;
    return {
      text: `${[head, ...renderByFile(items), ...notes.map((note) => `(${note})`)].join('\n')}\n`,
      structured: { items: [...items], total: items.length, precision, complete, notes: [...notes] },
    };
  },
});
