import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { leaveOutBeside } from '../core/content/beside.ts';
import { fitRows } from '../core/content/fit-rows.ts';
import { toGlobIn } from '../core/content/glob.ts';
import { type FoundFile, listFiles } from '../core/content/ripgrep.ts';
import { count } from '../core/count.ts';
import { toBase } from '../core/place.ts';
import { defineTool, type ToolContext } from '../core/tool.ts';

/** Enough for any project; what a hostile tree can make us hold. */
const maxMatches = 100_000;

export const glob = defineTool({
  name: 'glob',
  aliases: ['Glob', 'file-find'],
  title: 'Find files',
  description:
    'Find files by pattern, newest first. Patterns take * ? [a-z] {a,b} and ** for any depth; one without a slash ' +
    'matches names at any depth. Hidden files count, ignored ones (.gitignore) and links do not.',
  access: 'read',
  reach: 'one-or-all',
  paths: ['path'],
  timeoutMs: 30_000,
  input: z.object({
    pattern: z.string().min(1).describe('Glob pattern, such as src/**/*.ts'),
    path: z.string().default('').describe('Directory to search, relative to the workspace root; the root if left out'),
    limit: count({ fallback: 100, max: 10_000 }).describe('Most paths to answer (100)'),
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
      first.map((match) => toBase(base, match.path)),
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
      structured: { paths: [...paths], total: matches.length, truncated, unreadable },
    };
  },
});

async function find(pattern: string, path: string, { workspace, signal }: ToolContext) {
  const scope = await workspace.files.stat(path);
  if (scope.kind !== 'directory') {
    throw new AppError('E_NOT_A_DIRECTORY', `path is not a directory: ${path}`, { details: { path } });
  }
  const isWanted = toGlobIn({ root: workspace.root, scope: scope.path }, pattern, 'pattern');
  const isNarrow = scope.path === '' && !workspace.listFiles;
  const narrowing = isNarrow ? await leaveOutBeside(pattern, workspace.files) : [];
  const matches: FoundFile[] = [];
  const { unreadable } = await listFiles(workspace, {
    // One thread leaves the other cores to us, who look at what it finds while it goes on.
    args: ['--threads=1', ...narrowing],
    scope: scope.path,
    suffix: suffixOf(pattern),
    wants: isWanted,
    signal,
    onFiles(found) {
      const wanted = found.filter(({ path: file }) => isWanted(file)).slice(0, maxMatches - matches.length);
      // Sorted while the search goes on: what is left for its end is to merge them.
      for (const match of wanted.sort(newestFirst)) matches.push(match);
      return matches.length < maxMatches;
    },
  });
  return { matches, unreadable };
}

/** What every path that matches ends in, as far as that is plain to see. A dot alone may be no name but a place. */
function suffixOf(pattern: string): string {
  const [suffix = ''] = /[\w.-]*$/.exec(pattern) ?? [];
  return pattern.startsWith('!') || suffix === '.' ? '' : suffix;
}

function newestFirst(a: FoundFile, b: FoundFile): number {
  return b.time - a.time || (a.path < b.path ? -1 : 1);
}
