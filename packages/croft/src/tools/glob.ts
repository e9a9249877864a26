import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { lenientCount } from '../core/arguments/lenient-count.ts';
import { fitRows } from '../core/content/fit-rows.ts';
import { excludeSiblings } from '../core/content/search/exclude-siblings.ts';
import { createGlobFilter } from '../core/content/search/glob-filter.ts';
import { findLiteralDirectory } from '../core/content/search/literal-directory.ts';
import { type FoundFile, listFilesWithRipgrep } from '../core/content/search/ripgrep.ts';
import { relativeToBase } from '../core/sessions/working-directory.ts';
import { defineTool, type ToolContext } from '../core/tools/tool.ts';

/** More than any project has; bounds the memory that a hostile tree can take. */
const maxMatches = 100_000;

export const glob = defineTool({
  name: 'glob',
  aliases: ['Glob', 'file-find'],
  spellings: { aliases: { dir_path: 'path', directory: 'path', max_results: 'limit', head_limit: 'limit' } },
  title: 'Find files',
  description:
    'Find files by pattern, newest first. Patterns take * ? [a-z] {a,b} and ** for any depth; one without a slash ' +
    'matches names at any depth. Hidden files count, ignored ones (.gitignore) and links do not.',
  toolset: 'search',
  isEveryday: true,
  access: 'read',
  reach: 'one-or-all',
  paths: ['path'],
  timeoutMs: 30_000,
  input: z.object({
    pattern: z.string().min(1).describe('Glob pattern, such as src/**/*.ts'),
    path: z.string().default('').describe('Directory to search, relative to the workspace root; the root if left out'),
    limit: lenientCount({ fallback: 100, max: 10_000 }).describe('Most paths to answer (100)'),
  }),
  output: z.object({
    paths: z.array(z.string()).describe('Relative to the workspace root, or to where cd has gone'),
    total: z.int().describe('How many matched'),
    truncated: z.boolean(),
    unreadable: z.int().describe('Directories that could not be read'),
  }),
  async run({ pattern, path, limit }, context) {
    const { base } = context;
    const { matches, unreadable } = await find(pattern, path, context);
    const first = matches.sort(newestFirst).slice(0, limit);
    const paths = fitRows(
      first.map((match) => relativeToBase(base, match.path)),
      (found) => found.length + 1,
    );
    const truncated = paths.length < matches.length;
    const notes = [
      truncated &&
        `(${paths.length} of ${matches.length}${matches.length === maxMatches ? ' or more' : ''} files; narrow the pattern or raise limit)`,
      unreadable > 0 && `(${unreadable} paths could not be read)`,
    ].filter((note) => note !== false);
    return {
      text: [...paths, ...notes].join('\n'),
      notices: paths.length === 0 ? [nothingFound(pattern, path)] : [],
      structured: { paths: [...paths], total: matches.length, truncated, unreadable },
    };
  },
});

function nothingFound(pattern: string, path: string): string {
  return `No file matches ${JSON.stringify(pattern)}${path === '' ? '' : ` in ${path}`}; ignored files and links do not count.`;
}

async function find(pattern: string, path: string, { workspace, signal }: ToolContext) {
  const scope = await workspace.files.stat(path);
  if (scope.kind !== 'directory') {
    throw new AppError('E_NOT_A_DIRECTORY', `path is not a directory: ${path}`, { details: { path } });
  }
  const { isWanted, keep } = await createGlobFilter({ root: workspace.root, scope: scope.path }, pattern, 'pattern');
  const isNarrow = scope.path === '' && !workspace.listFiles;
  const start = isNarrow ? await findLiteralDirectory(workspace.files, pattern) : undefined;
  const narrowing = isNarrow && start === undefined ? excludeSiblings(pattern) : [];
  const matches: FoundFile[] = [];
  const { unreadable } = await listFilesWithRipgrep(workspace, {
    // One ripgrep thread leaves the other cores to this process, which filters results meanwhile. But a single
    // thread opens every directory before it checks whether the directory is excluded, so narrowed searches use two.
    args: [narrowing.length > 0 ? '--threads=2' : '--threads=1', ...narrowing],
    scope: start ?? scope.path,
    suffix: suffixOf(pattern),
    wants: isWanted,
    signal,
    async onFiles(found) {
      const wanted = (await keep(found)).slice(0, maxMatches - matches.length);
      // Each batch is sorted while the search goes on, so that the final sort only has to merge sorted runs.
      for (const match of wanted.sort(newestFirst)) matches.push(match);
      return matches.length < maxMatches;
    },
  });
  return { matches, unreadable };
}

/**
 * Returns the literal suffix of every matching path, or '' if there is none. A single dot is no suffix: it may name the
 * current directory.
 */
function suffixOf(pattern: string): string {
  const [suffix = ''] = /[\w.-]*$/.exec(pattern) ?? [];
  return pattern.startsWith('!') || suffix === '.' ? '' : suffix;
}

function newestFirst(a: FoundFile, b: FoundFile): number {
  return b.time - a.time || (a.path < b.path ? -1 : 1);
}
