import { AppError } from '@croft/protocol';
import type { SourceLocation } from '../ports/code-answers.ts';
import type { DefinitionsQuestion, FoundLocations, LocatedSymbol, SymbolQuestion } from '../ports/code-questions.ts';
import { toUri } from '../ports/file-uris.ts';
import type { LanguageServer } from '../ports/language-servers.ts';
import { Locations } from '../ports/protocol-schemas.ts';
import { textIn } from '../ports/source-text.ts';
import { askServerOrSearchText } from '../servers/ask-server-or-search-text.ts';
import { askUntilFresh } from '../servers/ask-until-fresh.ts';
import type { CodeContext } from '../servers/code-context.ts';
import { documentSymbols } from '../servers/document-symbols.ts';
import { findDeclarations } from '../servers/find-mentions.ts';
import { locateSymbol } from '../servers/locate-symbol.ts';
import { createSourceReader, toSourceLocations } from '../servers/source-locations.ts';
import { parseSymbolAddress } from '../symbols/symbol-address.ts';

const methods = { definitions: 'textDocument/definition', implementations: 'textDocument/implementation' };

/** Finds the definitions of a symbol with its language server, or by text if there is none. */
export function findDefinitions(question: DefinitionsQuestion, context: CodeContext): Promise<FoundLocations> {
  return askServerOrSearchText(context, {
    locate: () => locateSymbol(question, context, { isTogether: true }),
    async ask(server, target) {
      mustHave(server, methods[question.of]);
      const complete = await server.whenReady(target.path);
      const items = await askLocations(server, target, context, question);
      const notes = complete ? [] : [server.whyIncomplete()];
      return { at: nameOf(question, target), items, precision: 'server' as const, complete, notes };
    },
    ...(question.of === 'definitions' && { search: (why: string) => searchByText(question, context, why) }),
  });
}

async function searchByText(question: SymbolQuestion, context: CodeContext, why: string): Promise<FoundLocations> {
  const word = await wordOf(question, context);
  const found = await findDeclarations(context, word);
  const items = found.map(({ path, line, col, text }) => ({ path, line, col, text: text.slice(0, 160) }));
  const notes = [`by text, not by a language server: ${why}`];
  return { at: nameOf(question), items, precision: 'text', complete: false, notes };
}

/** A server need not know every question. */
function mustHave({ capabilities, definition: { name } }: LanguageServer, method: string): void {
  if (method !== 'textDocument/implementation' || capabilities.implementationProvider) return;
  throw new AppError('E_NO_SERVER', `the language server ${name} cannot list implementations`, {
    hint: 'Use find_references, or search_code.',
  });
}

async function askLocations(
  server: LanguageServer,
  { path, position }: LocatedSymbol,
  { workspace }: CodeContext,
  { withBody, of }: DefinitionsQuestion,
): Promise<SourceLocation[]> {
  return askUntilFresh(server, async () => {
    await server.open(path);
    const textDocument = { uri: toUri(server.root, path) };
    const locations = Locations.parse(await server.request(methods[of], { textDocument, position }));
    const read = createSourceReader(workspace.files);
    const { found: positions, files, misfits } = await toSourceLocations(server, locations, read);
    const answer = withBody
      ? await Promise.all(positions.map((location) => addBody(server, location, read)))
      : [...positions];
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
export async function wordOf(question: SymbolQuestion, context: CodeContext): Promise<string> {
  if (question.symbol !== undefined) return parseSymbolAddress(question.symbol).names.at(-1) ?? '';
  return (await locateSymbol(question, context)).word;
}
