import { AppError } from '@croft/protocol';
import { runRipgrep } from '../../content/search/ripgrep.ts';
import type { FileContent } from '../../files/files.ts';
import type { ToolContext } from '../../tools/tool.ts';
import type { CodeSymbol, ParsedFile } from '../code-symbol.ts';
import { mustHaveSyntax } from './must-have-syntax.ts';
import { identifierAt, matchesIn, pickSymbol, type QueriedFile, type SymbolQuery } from './pick-symbol.ts';
import { fullName, parseSymbolAddress } from './symbol-address.ts';
import { ambiguous, noSymbol } from './symbol-errors.ts';

type SymbolContext = Pick<ToolContext, 'workspace' | 'signal'>;

/** A query that may leave out the file: then the whole workspace is searched. */
export interface WorkspaceSymbolQuery extends SymbolQuery {
  readonly file_path?: string | undefined;
}

export interface FoundSymbol {
  readonly file: FileContent;
  readonly parsed: ParsedFile;
  readonly symbol: CodeSymbol;
}

/** Most files that are parsed to find a name. */
const maxFiles = 100;
/** Most files that are parsed to suggest other names. */
const maxNearFiles = 20;
const filesAtOnce = 4;
/** Larger files are not read: a parser would refuse them. */
const maxBytes = 2_000_000;

/** Finds one symbol in a file or in the whole workspace. Throws `E_NO_SYMBOL` or `E_AMBIGUOUS`. */
export async function findSymbol(query: WorkspaceSymbolQuery, context: SymbolContext): Promise<FoundSymbol> {
  const { file_path: path } = query;
  if (path === undefined) return findInWorkspace(query.symbol ?? '', context);
  const { file, parsed } = await parseFile(path, context);
  const queried = { path, bytes: file.bytes, parsed };
  const name = nameElsewhere(queried, query);
  if (name !== undefined) return findInWorkspace(name, context);
  return { file, parsed, symbol: pickSymbol(queried, query) };
}

/** A position may be on a name that another file defines. */
function nameElsewhere(file: QueriedFile, { symbol, line, col }: SymbolQuery): string | undefined {
  if (symbol !== undefined || line === undefined || col === undefined) return undefined;
  const { text } = identifierAt(file, line, col);
  return file.parsed.symbols.some(({ name }) => name === text) ? undefined : text;
}

/** Reads and parses a file. Throws `E_NOT_PARSED` for a language without a grammar. */
export async function parseFile(path: string, { workspace, signal }: SymbolContext) {
  const syntax = mustHaveSyntax(workspace);
  const file = await workspace.files.read(path, { maxBytes });
  const parsed = await syntax.parse({ path: file.path, bytes: file.bytes }, signal);
  if (!parsed) throw noGrammar(path, syntax.extensions);
  return { file, parsed };
}

export function noGrammar(path: string, extensions: readonly string[]): AppError {
  return new AppError('E_NOT_PARSED', `no AST support for ${path} (known extensions: ${extensions.join(', ')})`, {
    details: { path },
    hint: 'Use grep, read and edit for this file.',
  });
}

async function findInWorkspace(written: string, context: SymbolContext): Promise<FoundSymbol> {
  if (written.trim() === '') throw new AppError('E_INVALID_INPUT', 'symbol is required, or line with file_path');
  const name = parseSymbolAddress(written).names.at(-1) ?? '';
  const { paths, isCut } = await findMentions(name, ['--word-regexp'], maxFiles, context);
  const found = withoutDeclarations(
    await searchFiles(paths, context, (parsed) => matchesIn({ parsed }, { symbol: written })),
  );
  const [only] = found;
  if (found.length > 1)
    throw ambiguous(
      written,
      found.map(({ file, symbol }) => ({ path: file.path, symbol })),
    );
  if (only) return only;
  const where = isCut ? ` in the first ${maxFiles} files that mention it; pass file_path` : '';
  throw noSymbol(written, where, await findNearNames(name, context));
}

/** A declaration in a header is the same symbol as its definition, which is meant. */
function withoutDeclarations(found: readonly FoundSymbol[]): readonly FoundSymbol[] {
  const defined = found.filter(({ symbol }) => symbol.bodyRange !== undefined);
  const [only] = defined;
  const isSame = ({ symbol }: FoundSymbol) => symbol.kind === 'function' && only?.symbol.kind === 'function';
  return only && defined.length === 1 && found.every(isSame) ? defined : found;
}

async function searchFiles(
  paths: readonly string[],
  context: SymbolContext,
  select: (parsed: ParsedFile) => readonly CodeSymbol[],
): Promise<FoundSymbol[]> {
  const found: FoundSymbol[] = [];
  for (let at = 0; at < paths.length; at += filesAtOnce) {
    const read = paths.slice(at, at + filesAtOnce).map((path) => parseFile(path, context).catch(skipUnreadable));
    for (const file of await Promise.all(read))
      if (file) found.push(...select(file.parsed).map((symbol) => ({ ...file, symbol })));
    context.signal.throwIfAborted();
  }
  return found;
}

/** A file that is gone, too large or too slow is left out of a search. */
function skipUnreadable(thrown: unknown): undefined {
  if (!AppError.is(thrown)) throw thrown;
}

/** Names of the workspace that contain the written one, in any case, for a suggestion. */
async function findNearNames(name: string, context: SymbolContext): Promise<string[]> {
  const { paths } = await findMentions(name, ['--ignore-case'], maxNearFiles, context);
  const found = await searchFiles(paths, context, (parsed) => parsed.symbols);
  return found.map(({ symbol }) => fullName(symbol));
}

/** Files in a known language that mention a word. */
async function findMentions(word: string, how: readonly string[], limit: number, { workspace, signal }: SymbolContext) {
  const syntax = mustHaveSyntax(workspace);
  const paths: string[] = [];
  let isCut = false;
  await runRipgrep(workspace, {
    args: [
      '--files-with-matches',
      '--fixed-strings',
      '--glob=!node_modules/',
      `--max-filesize=${maxBytes}`,
      ...how,
      '--',
      word,
      '.',
    ],
    scope: '',
    record: 'path',
    signal,
    onRecord(record) {
      const path = record.toString().replace(/^\.\//, '');
      if (syntax.languageOf(path) === undefined) return true;
      isCut = paths.length >= limit;
      if (!isCut) paths.push(path);
      return !isCut;
    },
  });
  return { paths: paths.sort(), isCut };
}
