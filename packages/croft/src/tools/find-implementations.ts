import { z } from 'zod';
import { answerFields, SourceLocation } from '../core/code/ports/code-answers.ts';
import { renderByFile } from '../core/code/questions/reference-pages.ts';
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
    const asked = { ...question, of: 'implementations', withBody: false } as const;
    const found = await context.workspace.code.definitions(asked, context);
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
