import { fromUri, toUri } from '../ports/file-uris.ts';
import type { LanguageServer } from '../ports/language-servers.ts';
import { Locations } from '../ports/protocol-schemas.ts';
import { serversOf } from './ask-server-or-search-text.ts';
import type { CodeContext } from './code-context.ts';
import type { ServerSymbol } from './document-symbols.ts';

/** A symbol of a file, and the places that the server calls its definition. */
interface Declaration {
  readonly symbol: ServerSymbol;
  readonly definitions: readonly string[];
}

/** Of more symbols it is not asked which are only imports. */
const maxJudged = 100;
const maxLineLength = 1e6;

/** Leaves out names that a file only imports: their definition is another one. */
export async function judgeDeclarations(
  found: readonly ServerSymbol[],
  context: CodeContext,
): Promise<readonly Declaration[]> {
  const unknown = found.map((symbol) => ({ symbol, definitions: [] }));
  if (found.length > maxJudged) return unknown;
  const servers = serversOf(context);
  const all: Declaration[] = [];
  for (const symbol of found) {
    const definition = servers.definitionFor(symbol.path);
    if (!definition) continue;
    const definitions = await servers.use(definition, context, (server) => definitionsOf(server, symbol));
    all.push({ symbol, definitions });
  }
  const own = all.filter(({ symbol, definitions }) => definitions.includes(placeOf(symbol)));
  const silent = all.filter(({ definitions }) => definitions.length === 0);
  return own.length > 0 ? own : silent.length > 0 ? silent : all;
}

/**
 * The declaration that stands for all, if the server leads from it to every other one. A declaration of C and its
 * definition lead to each other: then the shorter one, which leads to the definition.
 */
export function findOne(declarations: readonly Declaration[]) {
  if (declarations.length < 2) return undefined;
  const leadsToAll = ({ symbol, definitions }: Declaration) => {
    const reached = new Set([placeOf(symbol), ...definitions]);
    return declarations.every((other) => reached.has(placeOf(other.symbol)));
  };
  const found = declarations.filter(leadsToAll);
  const isMutual = found.every(({ symbol, definitions }) => !definitions.includes(placeOf(symbol)));
  const [first] = isMutual ? found.toSorted((a, b) => lengthOf(a) - lengthOf(b)) : found;
  if (!first) return undefined;
  return { one: first.symbol, others: declarations.filter((each) => each !== first).map(({ symbol }) => symbol) };
}

/** In lines, with what is left of one line behind the point. */
function lengthOf({ symbol: { range } }: Declaration): number {
  const { start, end } = range;
  return end.line - start.line + (end.character - start.character) / maxLineLength;
}

function placeOf({ path, at }: ServerSymbol): string {
  return `${path}:${at.line}`;
}

/** Before a server has read the project, it may take a declaration for the definition. */
async function definitionsOf(server: LanguageServer, { path, at }: ServerSymbol): Promise<string[]> {
  await server.whenReady(path);
  const params = { textDocument: { uri: toUri(server.root, path) }, position: at };
  const locations = Locations.parse(await server.request('textDocument/definition', params));
  return locations.map(({ uri, range }) => {
    const target = fromUri(server.root, uri);
    return target && 'path' in target ? `${target.path}:${range.start.line}` : '';
  });
}
