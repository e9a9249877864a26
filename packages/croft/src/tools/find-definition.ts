import { z } from 'zod';
import { answerFields, SourceLocation } from '../core/code/ports/code-answers.ts';
import { symbolAliases, symbolArguments } from '../core/code/symbols/symbol-arguments.ts';
import { defineTool } from '../core/tools/tool.ts';

export const findDefinition = defineTool({
  name: 'find_definition',
  aliases: ['definition', 'read_definition', 'goToDefinition', 'lsp_goto_definition', 'find_symbol'],
  spellings: { aliases: symbolAliases },
  title: 'Find definition',
  description:
    'Find where a symbol is defined, by its name or by a position where it is used. Answers path:line:col with the line; ' +
    'fresh after every edit. Without a language server, found by text.',
  toolset: 'code',
  isEveryday: true,
  access: 'read',
  reach: 'one',
  paths: ['file_path'],
  timeoutMs: 90_000,
  input: z.object({
    ...symbolArguments,
    include_body: z.boolean().default(false).describe('Add the whole text of the definition'),
  }),
  output: z.object({ items: z.array(SourceLocation), total: z.int(), ...answerFields }),
  async run({ include_body: withBody, ...question }, context) {
    const asked = { ...question, of: 'definitions', withBody } as const;
    const { at, items, precision, notes, complete } = await context.workspace.code.definitions(asked, context);
    const rows = items.map(({ path, line, col, text, body }, index) => {
      const row = `  ${index + 1}. ${path}:${line}:${col}  ${text}`.trimEnd();
      return body === undefined ? row : `${row}\n${body}`;
    });
    const head =
      items.length === 0 ? `no definition found at ${at}` : `Found ${items.length} definition(s) for symbol at ${at}:`;
    return {
      text: `${[head, ...rows, ...notes.map((note) => `(${note})`)].join('\n')}\n`,
      structured: { items: [...items], total: items.length, precision, complete, notes: [...notes] },
    };
  },
});
