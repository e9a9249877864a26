import { z } from 'zod';
import { lenientCount } from '../core/arguments/lenient-count.ts';
import { symbolKinds } from '../core/code/code-symbol.ts';
import type { CodeHit } from '../core/code/ports/code-index.ts';
import { searchCode as search } from '../core/code/search/search-code.ts';
import { mustHaveSyntax } from '../core/code/symbols/must-have-syntax.ts';
import { relativeToBase } from '../core/sessions/working-directory.ts';
import { defineTool } from '../core/tools/tool.ts';

const maxText = 160;

const input = z.object({
  query: z
    .string()
    .trim()
    .min(1, 'query is required')
    .max(1000)
    .describe('Words or a name to look for: parse config, HTTPServer; text in "quotes" is found as it is'),
  limit: lenientCount({ fallback: 20, max: 100 }).describe('Most results to answer (20)'),
  path: z.string().default('').describe('File or directory to search; the root if left out'),
  language: z.string().min(1).optional().describe('Only code of this language, such as typescript or python'),
  kind: z
    .enum([...symbolKinds, 'text'])
    .optional()
    .describe('Only definitions of this kind'),
});

export const searchCode = defineTool({
  name: 'search_code',
  toolset: 'code',
  isEveryday: true,
  aliases: ['codebase_search', 'semantic_search', 'workspace_symbols'],
  spellings: { aliases: { lang: 'language', q: 'query', max_results: 'limit', dir_path: 'path' } },
  title: 'Search code',
  description:
    'Find the functions, classes and other definitions that fit a few words best, ranked; names may be split or joined ' +
    '(parse config finds parseConfig). Answers path:line, kind, name and signature. For exact text use grep.',
  access: 'read',
  reach: 'one-or-all',
  paths: ['path'],
  timeoutMs: 30_000,
  input,
  output: z.object({
    items: z.array(
      z.object({
        path: z.string(),
        line: z.int(),
        kind: z.string().describe('Kind of definition, or text for a line of a file that cannot be parsed'),
        name: z.string().optional().describe('With its containers'),
        signature: z.string(),
        doc: z.string().optional(),
        score: z.number(),
      }),
    ),
    total: z.int(),
    complete: z.boolean().describe('Every file with a word of the query was looked at'),
  }),
  async run(call, { workspace, base, signal }) {
    const { path: scope } = await workspace.files.stat(call.path);
    const found = await search(workspace, mustHaveSyntax(workspace), { ...call, scope, signal });
    const items = found.hits.map((hit) => toItem(hit, base));
    return {
      text: items.map(toRow).join(''),
      notices: [
        ...(items.length === 0 ? [`no results for ${JSON.stringify(call.query)}\n`] : []),
        ...(found.total > items.length ? [`(${items.length} of ${found.total} results)\n`] : []),
        ...(found.isComplete
          ? []
          : ['(only the 100 files that fit best were looked at; narrow path or query for more)\n']),
      ],
      structured: { items, total: found.total, complete: found.isComplete },
    };
  },
});

function toItem({ path, line, kind, name, text, doc, score }: CodeHit, base: string) {
  return {
    ...{ path: relativeToBase(base, path), line, kind, score: Math.round(score * 100) / 100 },
    ...(name !== undefined && { name }),
    signature: cut(text),
    ...(doc !== undefined && doc !== '' && { doc: cut(doc) }),
  };
}

function toRow({ path, line, kind, name, signature, doc }: ReturnType<typeof toItem>): string {
  const head = name === undefined ? `${path}:${line}` : `${path}:${line} ${kind} ${name}`;
  return [head, `  ${signature}`, ...(doc === undefined ? [] : [`  ${doc}`])].map((row) => `${row}\n`).join('');
}

function cut(text: string): string {
  return text.length > maxText ? `${text.slice(0, maxText)} …` : text;
}
