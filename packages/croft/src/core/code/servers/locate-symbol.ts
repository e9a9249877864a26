import { AppError } from '@croft/protocol';
import type { LocatedSymbol, SymbolQuestion } from '../ports/code-questions.ts';
import type { LanguageServer, LanguageServers } from '../ports/language-servers.ts';
import { readSource, type SourceText } from '../ports/source-text.ts';
import { pathFactor } from '../search/score-symbol.ts';
import { parseSymbolAddress, type SymbolAddress } from '../symbols/symbol-address.ts';
import { serversOf } from './ask-server-or-search-text.ts';
import type { CodeContext } from './code-context.ts';
import { documentSymbols, kindName, type ServerSymbol } from './document-symbols.ts';
import { countMentions, findDeclarations } from './find-mentions.ts';
import { identifierAt, identifierOnLine } from './identifiers.ts';
import { findOne, judgeDeclarations } from './judge-declarations.ts';

/** Files that may have the definition, the likely ones first; more are not opened. */
const maxFiles = 30;
const maxRows = 20;
const maxNearest = 5;

interface LocateOptions {
  /** Declarations that the server takes for one symbol are one. Otherwise they are ambiguous. */
  readonly isTogether?: boolean;
}

/** A symbol, with the places of its other declarations. */
export interface LocatedSymbols extends LocatedSymbol {
  readonly others?: readonly Pick<LocatedSymbol, 'path' | 'position'>[];
}

/**
 * Finds the symbol that a call is about: by line and column, by its name on a line, by its name in a file, or by its
 * name in the workspace. Only the last two need a language server. Throws `E_NO_SYMBOL` and `E_AMBIGUOUS`.
 */
export async function locateSymbol(
  question: SymbolQuestion,
  context: CodeContext,
  { isTogether = false }: LocateOptions = {},
): Promise<LocatedSymbols> {
  const { symbol, file_path: path, line } = question;
  if (symbol === undefined) return locatePosition(question, context);
  const address = parseSymbolAddress(symbol);
  if (path !== undefined && line !== undefined) {
    const source = await readSource(context.workspace.files, path);
    return toLocated(source, identifierOnLine(source, path, line, address.names.at(-1) ?? '', address.onLine));
  }
  return locateName(address, path, context, isTogether && address.overload === undefined);
}

async function locatePosition({ file_path: path, line, col }: SymbolQuestion, { workspace }: CodeContext) {
  if (path === undefined) throw required('file_path is required, or symbol');
  if (line === undefined) throw required('line is required (1-based)');
  if (col === undefined) throw required('col is required (1-based)');
  const source = await readSource(workspace.files, path);
  return toLocated(source, identifierAt(source, path, line, col));
}

async function locateName(
  address: SymbolAddress,
  path: string | undefined,
  context: CodeContext,
  isTogether: boolean,
): Promise<LocatedSymbols> {
  const word = address.names.at(-1) ?? '';
  const { files } = context.workspace;
  const paths = path === undefined ? await declaringFiles(context, word) : [(await files.stat(path)).path];
  const all = await symbolsIn(paths, context);
  const matching = testsLast(matchesOf(address, all));
  if (matching.length < 2) return pick(address, matching, { all, path });
  const declarations = await judgeDeclarations(matching, context);
  const together = isTogether ? findOne(declarations) : undefined;
  const symbols = together ? [together.one] : declarations.map((each) => each.symbol);
  const others = together?.others.map((each) => ({ path: each.path, position: each.at }));
  return { ...pick(address, symbols, { all, path }), ...(others && { others }) };
}

function testsLast(found: readonly ServerSymbol[]): readonly ServerSymbol[] {
  return found.toSorted((a, b) => pathFactor(b.path) - pathFactor(a.path));
}

function toLocated({ path }: SourceText, found: Pick<LocatedSymbol, 'word' | 'position'>): LocatedSymbol {
  return { path, ...found };
}

async function declaringFiles(context: CodeContext, word: string): Promise<string[]> {
  const found = await findDeclarations(context, word, maxFiles * 4);
  const others = found.length < maxFiles ? [...(await countMentions(context, word)).keys()].sort() : [];
  return [...new Set([...found.map(({ path }) => path), ...others])].slice(0, maxFiles);
}

/** Asks the servers of the files for their definitions. */
async function symbolsIn(paths: readonly string[], context: CodeContext): Promise<ServerSymbol[]> {
  const servers = serversOf(context);
  const all: ServerSymbol[] = [];
  const groups = groupByServer(servers, paths);
  if (groups.size === 0 && paths.length > 0)
    throw new AppError('E_NO_SERVER', `no language server is known for ${paths.slice(0, maxNearest).join(', ')}`);
  for (const [definition, own] of groups)
    await servers.use(definition, context, async (server) => {
      await server.sync();
      for (const path of own) all.push(...(await symbolsOf(server, path)));
    });
  return all;
}

async function symbolsOf(server: LanguageServer, path: string): Promise<ServerSymbol[]> {
  return documentSymbols(server, path).catch((thrown) => {
    // A file that is too large, or gone by now.
    if (AppError.is(thrown) && ['E_NOT_PARSED', 'E_FILE_NOT_FOUND'].includes(thrown.code)) return [];
    throw thrown;
  });
}

function groupByServer(servers: LanguageServers, paths: readonly string[]) {
  const groups = new Map<NonNullable<ReturnType<LanguageServers['definitionFor']>>, string[]>();
  for (const path of paths) {
    const definition = servers.definitionFor(path);
    if (definition) groups.set(definition, [...(groups.get(definition) ?? []), path]);
  }
  return groups;
}

function matchesOf({ names, isWhole }: SymbolAddress, all: readonly ServerSymbol[]): readonly ServerSymbol[] {
  const matching = all.filter(({ name, containers }) => matches([...containers, plain(name)], names, isWhole));
  // A name at the top of a file is meant before a local one inside of a function.
  const top = matching.filter(({ containers }) => containers.length === names.length - 1);
  return top.length > 0 ? top : matching;
}

interface PickOptions {
  readonly all: readonly ServerSymbol[];
  readonly path: string | undefined;
}

function pick(address: SymbolAddress, found: readonly ServerSymbol[], { all, path }: PickOptions): LocatedSymbol {
  const { names, overload, written } = address;
  const only = overload === undefined ? (found.length === 1 ? found[0] : undefined) : found[overload];
  if (only) return { path: only.path, word: names.at(-1) ?? '', position: only.at };
  if (found.length > 0) throw ambiguous(written, found);
  const nearest = [...new Set(all.map(({ name }) => plain(name)))]
    .filter((name) => name.toLowerCase().includes((names.at(-1) ?? '').toLowerCase().slice(0, 3)))
    .slice(0, maxNearest);
  const where = path === undefined ? ' in the workspace' : ` in ${path}`;
  const advice = nearest.length === 0 ? '' : ` (nearest: ${nearest.join(', ')})`;
  throw new AppError('E_NO_SYMBOL', `symbol ${written} not found${where}${advice}`, { details: { nearest } });
}

/** Some servers add the signature to a name. */
function plain(name: string): string {
  return name.replace(/\(.*$/s, '');
}

function matches(full: readonly string[], names: readonly string[], isWhole: boolean): boolean {
  if (isWhole ? full.length !== names.length : full.length < names.length) return false;
  return names.every((wanted, index) => full[full.length - names.length + index] === wanted);
}

function ambiguous(written: string, found: readonly ServerSymbol[]): AppError {
  const rows = found
    .slice(0, maxRows)
    .map(
      ({ path, at, kind, containers, name }) =>
        `${path}:${at.line + 1} ${kindName(kind)} ${[...containers, name].join('.')}`,
    );
  const isOneFile = found.every(({ path }) => path === found[0]?.path);
  const lines = isOneFile ? ` at ${found.map(({ at }) => `line ${at.line + 1}`).join(', ')}` : '';
  const head = `ambiguous: ${written} matches ${found.length} declarations${lines}`;
  return new AppError('E_AMBIGUOUS', [head, ...rows].join('\n').slice(0, 4000), { details: { count: found.length } });
}

function required(message: string): AppError {
  return new AppError('E_INVALID_INPUT', message);
}
