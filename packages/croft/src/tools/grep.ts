import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { toGlobIn } from '../core/content/glob.ts';
import { collectMatches, type Match, renderMatches } from '../core/content/grep-output.ts';
import { runRipgrep } from '../core/content/ripgrep.ts';
import { count, countFromZero } from '../core/count.ts';
import { toBase } from '../core/place.ts';
import { defineTool } from '../core/tool.ts';

const modeArguments = {
  content: ['--line-number', '--no-heading', '--with-filename', '--max-columns=4000', '--max-columns-preview'],
  files_with_matches: ['--files-with-matches'],
  count: ['--count', '--with-filename'],
} as const;

const input = z.object({
  pattern: z.string().min(1).describe('Regular expression (Rust syntax)'),
  path: z
    .string()
    .default('')
    .describe('File or directory to search, relative to the workspace root; the root if left out'),
  glob: z.string().optional().describe('Only files whose path matches this glob pattern'),
  type: z
    .string()
    .regex(/^[\w+.-]{1,64}$/, 'there is no such file type')
    .optional()
    .describe('Only files of this type, such as ts, py or rust'),
  case_insensitive: z.boolean().default(false),
  multiline: z.boolean().default(false).describe('Let the pattern span lines; . matches a newline too'),
  output_mode: z
    .enum(['content', 'files_with_matches', 'count'], {
      error: ({ input: given }) => `unknown output_mode: ${given} (valid: content, files_with_matches, count)`,
    })
    .default('content'),
  context: countFromZero({ max: 100 }).optional().describe('Lines to show before and after each match'),
  before: countFromZero({ max: 100 }).optional().describe('Lines to show before each match'),
  after: countFromZero({ max: 100 }).optional().describe('Lines to show after each match'),
  head_limit: count({ fallback: 1000, max: 10_000 }).describe('Most lines, files or counts to answer (1000)'),
});

export const grep = defineTool({
  name: 'grep',
  aliases: ['Grep', 'file-search'],
  argumentAliases: { maxResults: 'head_limit' },
  title: 'Search in files',
  description:
    'Search file contents with ripgrep. Hidden files count, ignored (.gitignore) and binary ones do not. ' +
    'Answers path:line:text, or the paths, or counts.',
  access: 'read',
  reach: 'one-or-all',
  paths: ['path'],
  timeoutMs: 30_000,
  input,
  output: z.object({
    mode: z.enum(['content', 'files_with_matches', 'count']),
    matches: z.array(
      z.object({
        path: z.string(),
        line: z.int().optional(),
        text: z.string().optional(),
        count: z.int().optional(),
        isContext: z.boolean().optional(),
      }),
    ),
    truncated: z.boolean(),
    unreadable: z.int().describe('Files that could not be read'),
  }),
  async run(call, { workspace, base, signal }) {
    const { path: scope, kind } = await workspace.files.stat(call.path);
    if (kind === 'other') {
      throw new AppError('E_NOT_A_FILE', `not a regular file: ${call.path}`, { details: { path: call.path } });
    }
    const isWanted = call.glob ? toGlobIn({ root: workspace.root, scope }, call.glob, 'glob') : () => true;
    const found = collectMatches({ mode: call.output_mode, limit: call.head_limit, isWanted });
    const { unreadable } = await runRipgrep(workspace, {
      // Who names a file means it, whatever it holds; without this, one with a NUL byte has counts but no lines.
      args: [...(kind === 'file' ? ['--text'] : []), ...toArguments(call), ...(scope === '' ? ['.'] : [])],
      scope,
      record: found.record,
      signal,
      onRecord: found.add,
    });
    const matches: Match[] = found.sorted().map((match) => ({ ...match, path: toBase(base, match.path) }));
    const notes = [
      found.isFull() && found.note(),
      unreadable > 0 && `(${unreadable} files could not be read)\n`,
    ].filter((note) => note !== false);
    return {
      text: renderMatches(matches) + notes.join(''),
      structured: { mode: call.output_mode, matches, truncated: found.isFull(), unreadable },
    };
  },
});

function toArguments(call: z.output<typeof input>): string[] {
  return [
    ...modeArguments[call.output_mode],
    ...(call.case_insensitive ? ['--ignore-case'] : []),
    ...(call.multiline ? ['--multiline', '--multiline-dotall'] : []),
    ...(call.type === undefined ? [] : [`--type=${call.type}`]),
    ...(call.output_mode === 'content' ? contextArguments(call) : []),
    ...['--', call.pattern],
  ];
}

function contextArguments({ context = 0, before = context, after = context }: z.output<typeof input>): string[] {
  return before + after === 0 ? [] : [`--before-context=${before}`, `--after-context=${after}`];
}
