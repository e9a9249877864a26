import { AppError } from '@croft/protocol';
import type { ToolContext } from '../../tools/tool.ts';
import { toUri } from '../ports/file-uris.ts';
import type { LanguageServer } from '../ports/language-servers.ts';
import { Locations } from '../ports/protocol-schemas.ts';
import { textIn } from '../ports/source-text.ts';
import { parseSymbolAddress } from '../symbols/symbol-address.ts';
import { askFresh } from './ask-fresh.ts';
import { askOrSearch } from './ask-or-search.ts';
import { documentSymbols } from './document-symbols.ts';
import { findDeclarations } from './find-mentions.ts';
import { type LocatedSymbol, locateSymbol, type SymbolQuestion } from './locate-symbol.ts';
import { createSourceReader, type SourceLocation, toSourceLocations } from './source-locations.ts';

interface FoundDefinitions {
  /** `path:line:col` of the question, or the name. */
  readonly at: string;
  readonly items: readonly SourceLocation[];
  readonly precision: 'server' | 'text';
  readonly complete: boolean;
  readonly notes: readonly string[];
}

/** Finds the definitions of a symbol with its language server, or by text if there is none. */
export function findDefinitions(
  question: SymbolQuestion,
  context: ToolContext,
  { withBody = false, method = 'textDocument/definition', isExact = false } = {},
): Promise<FoundDefinitions> {
  return askOrSearch<FoundDefinitions>(context, {
    locate: () => locateSymbol(question, context),
    async ask(server, target) {
      mustHave(server, method);
      const complete = await server.whenReady();
      const items = await askLocations(server, target, context, { withBody, method });
      const notes = complete ? [] : ['the language server still reads the project: ask again'];
      return { at: nameOf(question, target), items, precision: 'server', complete, notes };
    },
    ...(!isExact && { search: (why: string) => searchByText(question, context, why) }),
  });
}

async function searchByText(question: SymbolQuestion, context: ToolContext, why: string): Promise<FoundDefinitions> {
  const word = await wordOf(question, context);
  const found = await findDeclarations(context, word);
  const items = found.map(({ path, line, col, text }) => ({ path, line, col, text: text.slice(0, 160) }));
  const notes = [`by text, not by a language server: ${why}`];
  return { at: nameOf(question), items, precision: 'text', complete: false, notes };
}

/** A server need not know every question. */
function mustHave({ capabilities, definition: { name } }: LanguageServer, method: string): void {
  if (method !== 'textDocument/implementation' || capabilities.implementationProvider) return;
  throw new AppError('E_NO_SERVER', `the language server ${name} does not tell implementations`);
}

async function askLocations(
  server: LanguageServer,
  { path, position }: LocatedSymbol,
  { workspace }: ToolContext,
  { withBody, method }: { withBody: boolean; method: string },
): Promise<SourceLocation[]> {
  return askFresh(server, async () => {
    await server.open(path);
    const textDocument = { uri: toUri(server.root, path) };
    const locations = Locations.parse(await server.request(method, { textDocument, position }));
    const read = createSourceReader(workspace.files);
    const { located, files, misfits } = await toSourceLocations(server, locations, read);
    const answer = withBody
      ? await Promise.all(located.map((location) => addBody(server, location, read)))
      : [...located];
    return { answer, files: [...files, path], misfits };
  });
}

/** A definition is as long as the server says that its symbol is. */
async function addBody(
  server: LanguageServer,
  location: SourceLocation,
  read: ReturnType<typeof createSourceReader>,
): Promise<SourceLocation> {
  const source = location.external ? undefined : await read(location.path);
  if (!source) return location;
  const symbols = await documentSymbols(server, location.path);
  const symbol = symbols.find(({ at }) => at.line === location.line - 1 && at.character === location.col - 1);
  const body = symbol && textIn(source, symbol.range);
  return body === undefined ? location : { ...location, body };
}

export function nameOf({ symbol, file_path: path, line, col }: SymbolQuestion, target?: LocatedSymbol): string {
  if (target) return `${target.path}:${target.position.line + 1}:${target.position.character + 1}`;
  return path === undefined || line === undefined ? (symbol ?? '') : `${path}:${line}:${col ?? 1}`;
}

/** The word that a question is about, without a server. */
export async function wordOf(question: SymbolQuestion, context: ToolContext): Promise<string> {
  if (question.symbol !== undefined) return parseSymbolAddress(question.symbol).names.at(-1) ?? '';
  return (await locateSymbol(question, context)).word;
}
