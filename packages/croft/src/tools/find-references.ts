import { z } from 'zod';
import { lenientCount } from '../core/arguments/lenient-count.ts';
import { answerFields, SourceLocation } from '../core/code/ports/code-answers.ts';
import { renderByFile } from '../core/code/questions/reference-pages.ts';
import { symbolAliases, symbolArguments } from '../core/code/symbols/symbol-arguments.ts';
import { defineTool } from '../core/tools/tool.ts';

export const findReferencesTool = defineTool({
  name: 'find_references',
  aliases: ['references', 'find_referencing_symbols', 'list_code_usages', 'lsp_find_references'],
  spellings: { aliases: symbolAliases },
  title: 'Find references',
  description:
    'Find all uses of a symbol, by its name or by a position. Answers the places by file, fresh after every edit, and says ' +
    'if the list may be incomplete. Without a language server, found by text.',
  toolset: 'code',
  isEveryday: true,
  access: 'read',
  reach: 'one',
  paths: ['file_path'],
  timeoutMs: 90_000,
  input: z.object({
    ...symbolArguments,
    include_declaration: z.boolean().default(true),
    limit: lenientCount({ fallback: 100, max: 1000 }).describe('Most places to answer (100)'),
    cursor: z.string().optional().describe('Where the last answer ended: its next'),
  }),
  output: z.object({
    items: z.array(SourceLocation),
    total: z.int(),
    next: z.string().optional().describe('Pass it as cursor for the places after these'),
    ...answerFields,
  }),
  async run({ include_declaration: withDeclaration, ...question }, context) {
    const found = await context.workspace.code.references({ ...question, withDeclaration }, context);
    const { at, items, total, start, next, precision, complete, notes } = found;
    const head = total === 0 ? `no references found at ${at}` : `Found ${total} reference(s) for symbol at ${at}:`;
    const more = next === undefined ? [] : [`(${start + 1}-${start + items.length} of ${total}; cursor: ${next})`];
    return {
      text: `${[head, ...renderByFile(items), ...more, ...notes.map((note) => `(${note})`)].join('\n')}\n`,
      structured: { items: [...items], total, ...(next && { next }), precision, complete, notes: [...notes] },
    };
  },
});
