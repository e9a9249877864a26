import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { lenientCount, lenientCountFromZero } from '../core/arguments/lenient-count.ts';
import { defineForm } from '../core/arguments/read-arguments.ts';
import { compileGlobFrom } from '../core/content/search/compile-glob-from.ts';
import { collectMatches, contentArguments, type GrepMatch, renderMatches } from '../core/content/search/grep-output.ts';
import { runRipgrep } from '../core/content/search/ripgrep.ts';
import { showFarMatches } from '../core/content/search/show-long-lines.ts';
import { relativeToBase } from '../core/sessions/working-directory.ts';
import { defineTool } from '../core/tools/tool.ts';

const modeArguments = {
  content: contentArguments,
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
  context: lenientCountFromZero({ max: 100 }).optional().describe('Lines to show before and after each match'),
  before: lenientCountFromZero({ max: 100 }).optional().describe('Lines to show before each match'),
  after: lenientCountFromZero({ max: 100 }).optional().describe('Lines to show after each match'),
  head_limit: lenientCount({ fallback: 1000, max: 10_000 }).describe('Most lines, files or counts to answer (1000)'),
});

/** Matches patterns that mention a carriage return in any spelling. */
const namesReturn = /\r|\\(?:r|x0d|x\{0*d\}|u000d|u\{0*d\})/i;
/** ripgrep's own option letters, and argument names that other systems use. */
const aliases = {
  ...{ '-i': 'case_insensitive', ignore_case: 'case_insensitive', '-A': 'after', '-B': 'before', '-C': 'context' },
  ...{ context_lines: 'context', include: 'glob', include_pattern: 'glob', dir_path: 'path', directory: 'path' },
  ...{ max_results: 'head_limit', limit: 'head_limit' },
};

const caseSensitive = defineForm(z.object({ case_sensitive: z.boolean() }), ({ case_sensitive }) => ({
  case_insensitive: !case_sensitive,
}));

/** Lines always come with their numbers: asking for numbers is accepted, asking for none is an error. */
const numbered = z.boolean().refine((wanted) => wanted, 'lines always come with their numbers; leave it out');
const lineNumbers = ['-n', 'line_numbers'].map((name) => defineForm(z.object({ [name]: numbered }), () => ({})));

export const grep = defineTool({
  name: 'grep',
  aliases: ['Grep', 'file-search'],
  spellings: { aliases, forms: [caseSensitive, ...lineNumbers] },
  title: 'Search in files',
  description:
    'Search file contents with ripgrep. Hidden files count, ignored (.gitignore) and binary ones do not, nor node_modules ' +
    'unless path or glob names it. Answers path:line:text, or the paths, or counts.',
  toolset: 'search',
  isEveryday: true,
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
    const isWanted = call.glob ? compileGlobFrom({ root: workspace.root, scope }, call.glob, 'glob') : () => true;
    const found = collectMatches({ mode: call.output_mode, limit: call.head_limit, isWanted });
    const { unreadable } = await runRipgrep(workspace, {
      // A file that is named is searched as text even if it is binary. Without --text, a file with a NUL byte has
      // counts but no lines.
      args: [...(kind === 'file' ? ['--text'] : []), ...toArguments(call, scope), ...(scope === '' ? ['.'] : [])],
      scope,
      record: found.record,
      signal,
      onRecord: found.add,
    });
    await showFarMatches(workspace.files, found.far(), signal);
    const matches: GrepMatch[] = found.sorted().map((match) => ({ ...match, path: relativeToBase(base, match.path) }));
    const notes = [
      found.isFull() && found.note(),
      unreadable > 0 && `(${unreadable} files could not be read)\n`,
    ].filter((note) => note !== false);
    return {
      text: renderMatches(matches) + notes.join(''),
      notices: matches.length === 0 ? [nothingFound(call)] : [],
      structured: { mode: call.output_mode, matches, truncated: found.isFull(), unreadable },
    };
  },
});

function nothingFound({ pattern, path, glob, type }: z.output<typeof input>): string {
  const among = [
    ...(path === '' ? [] : [`in ${path}`]),
    ...(glob === undefined ? [] : [`in files that match ${glob}`]),
    ...(type === undefined ? [] : [`in files of type ${type}`]),
  ];
  return `${['No match for', JSON.stringify(pattern), ...among].join(' ')}.\n`;
}

function toArguments(call: z.output<typeof input>, scope: string): string[] {
  return [
    ...modeArguments[call.output_mode],
    // With --crlf, `$` matches before CRLF too, but then no pattern can match the CR itself.
    ...(namesReturn.test(call.pattern) ? [] : ['--crlf']),
    ...(namesModules(scope) || namesModules(call.glob ?? '') ? [] : ['--glob=!node_modules/']),
    ...(call.case_insensitive ? ['--ignore-case'] : []),
    ...(call.multiline ? ['--multiline', '--multiline-dotall'] : []),
    ...(call.type === undefined ? [] : [`--type=${call.type}`]),
    ...(call.output_mode === 'content' ? contextArguments(call) : []),
    ...['--', call.pattern],
  ];
}

function namesModules(path: string): boolean {
  return path.includes('node_modules');
}

function contextArguments({ context = 0, before = context, after = context }: z.output<typeof input>): string[] {
  return before + after === 0 ? [] : [`--before-context=${before}`, `--after-context=${after}`];
}
