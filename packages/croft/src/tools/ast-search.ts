import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { lenientCount } from '../core/arguments/lenient-count.ts';
import { searchByPattern } from '../core/code/patterns/search-by-pattern.ts';
import { relativeToBase } from '../core/sessions/working-directory.ts';
import { defineTool } from '../core/tools/tool.ts';

const maxShownText = 400;

const input = z.object({
  pattern: z
    .string()
    .min(1)
    .optional()
    .describe('Code to find; $NAME stands for one part, $$$NAME for any number of them: foo($A, $$$REST)'),
  rule: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('A rule of ast-grep instead of a pattern: kind, regex, inside, has, all, any, not …; needs language'),
  language: z
    .string()
    .min(1)
    .optional()
    .describe('Language of the pattern, such as typescript; files of others are left out'),
  path: z.string().default('').describe('File or directory to search; the root if left out'),
  limit: lenientCount({ fallback: 50, max: 500 }).describe('Most matches to answer (50)'),
});

export const astSearch = defineTool({
  name: 'ast_search',
  aliases: ['find_code', 'ast_grep_search', 'find_code_by_rule'],
  spellings: { aliases: { lang: 'language', dir_path: 'path', max_results: 'limit' } },
  title: 'Search by syntax',
  description:
    'Find code by its structure: a pattern is code with $NAME for parts that may be anything, and matches whatever the ' +
    'spacing. Answers path:line:col and the code. Ignored files and node_modules are left out.',
  toolset: 'code',
  access: 'read',
  reach: 'one-or-all',
  paths: ['path'],
  timeoutMs: 30_000,
  input,
  output: z.object({
    items: z.array(
      z.object({ path: z.string(), line: z.int(), col: z.int(), end: z.int().describe('Last line'), text: z.string() }),
    ),
    total: z.int().describe('How many were found before the search stopped'),
    complete: z.boolean().describe('Every match is in items'),
    notes: z.array(z.string()),
  }),
  async run(call, { workspace, base, signal }) {
    if ((call.pattern === undefined) === (call.rule === undefined))
      throw new AppError('E_INVALID_INPUT', 'pass pattern or rule, and not both');
    if (call.rule && !call.language) throw new AppError('E_INVALID_INPUT', 'a rule needs language');
    const { path: scope } = await workspace.files.stat(call.path);
    const found = await searchByPattern(workspace, { ...call, scope, signal });
    const items = found.matches.map(({ path, at, endLine, text }) => ({
      path: relativeToBase(base, path),
      ...at,
      end: endLine,
      text: text.length > maxShownText ? `${text.slice(0, maxShownText)} …` : text,
    }));
    const lines = items.map(({ path, line, col, text }) => `${path}:${line}:${col} ${text}\n`);
    return {
      text: lines.join(''),
      notices:
        items.length === 0
          ? ['No match.', ...found.notes].map((note) => `${note}\n`)
          : found.notes.map((note) => `${note}\n`),
      structured: { items, total: items.length, complete: found.isComplete, notes: [...found.notes] },
    };
  },
});
