import { AppError } from '@croft/protocol';
import { listFilesWithRipgrep } from '../../content/search/ripgrep.ts';
import type { ToolContext } from '../../tools/tool.ts';
import { parseFile } from '../symbols/find-symbol.ts';
import { mustHaveSyntax } from '../symbols/must-have-syntax.ts';
import { listOutline } from './outline-file.ts';

/** One source file of a directory with the names at its top. */
interface OutlinedFile {
  readonly path: string;
  /** Absent: the file was not parsed. */
  readonly names?: readonly string[] | undefined;
}

/** About 1500 tokens. */
const maxChars = 5000;
const maxListed = 5000;
const maxParsed = 60;
const filesAtOnce = 4;
/** How many names a file shows, from generous to none, until everything fits. */
const generosity = [40, 16, 8, 4, 2, 0];

type Context = Pick<ToolContext, 'workspace' | 'signal'>;

/** Outlines the source files of a directory, those nearest to its top in most detail. */
export async function outlineDirectory(scope: string, context: Context) {
  const paths = await listSources(scope, context);
  const files = await parseNames(paths, context);
  const relative = (path: string) => (scope === '' ? path : path.slice(scope.length + 1));
  const shown = fit(files.map((file) => ({ ...file, path: relative(file.path) })));
  return { text: shown, files };
}

async function listSources(scope: string, { workspace, signal }: Context): Promise<string[]> {
  const syntax = mustHaveSyntax(workspace);
  const paths: string[] = [];
  await listFilesWithRipgrep(workspace, {
    ...{ args: ['--glob=!node_modules/'], scope, suffix: '', signal, wants: () => false },
    async onFiles(files) {
      for (const { path } of files) if (syntax.languageOf(path) !== undefined) paths.push(path);
      return paths.length < maxListed;
    },
  });
  const depthOf = (path: string) => path.split('/').length;
  return paths.slice(0, maxListed).sort((a, b) => depthOf(a) - depthOf(b) || (a < b ? -1 : 1));
}

async function parseNames(paths: readonly string[], context: Context): Promise<OutlinedFile[]> {
  const files: OutlinedFile[] = [];
  for (let at = 0; at < Math.min(paths.length, maxParsed); at += filesAtOnce) {
    const part = paths.slice(at, Math.min(at + filesAtOnce, maxParsed));
    files.push(...(await Promise.all(part.map((path) => readNames(path, context)))));
    context.signal.throwIfAborted();
  }
  return [...files, ...paths.slice(maxParsed).map((path) => ({ path }))];
}

async function readNames(path: string, context: Context): Promise<OutlinedFile> {
  try {
    const { parsed } = await parseFile(path, context);
    const { items } = listOutline(parsed, { depth: 1, detail: 'names' });
    return { path, names: items.map(({ symbol }) => [...symbol.containers, symbol.name].join('.')) };
  } catch (thrown) {
    if (AppError.is(thrown)) return { path };
    throw thrown;
  }
}

/** Shows fewer names of each file, and then whole directories as one row, until the text is short enough. */
function fit(files: readonly OutlinedFile[]): string {
  for (const count of generosity) {
    const text = files.map((file) => toRow(file, count)).join('');
    if (text.length <= maxChars) return text;
  }
  return cut(collapse(files));
}

function toRow({ path, names = [] }: OutlinedFile, count: number): string {
  if (names.length === 0 || count === 0) return `${path}\n`;
  const more = names.length > count ? `, … ${names.length - count} more` : '';
  return `${path}: ${names.slice(0, count).join(', ')}${more}\n`.slice(0, maxChars).toWellFormed();
}

function collapse(files: readonly OutlinedFile[]): string[] {
  const directories = Map.groupBy(files, ({ path }) => path.split('/').slice(0, -1).slice(0, 3).join('/'));
  return [...directories].map(
    ([directory, inside]) => `${directory === '' ? '.' : directory}/ (${inside.length} files)\n`,
  );
}

function cut(rows: readonly string[]): string {
  let text = '';
  for (const [index, row] of rows.entries()) {
    if (text.length + row.length > maxChars - 60) return `${text}… and ${rows.length - index} more directories\n`;
    text += row;
  }
  return text;
}
