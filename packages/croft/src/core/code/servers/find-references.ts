import { AppError } from '@croft/protocol';
import type { ToolContext } from '../../tools/tool.ts';
import { toUri } from '../ports/file-uris.ts';
import type { LanguageServer } from '../ports/language-servers.ts';
import { Locations } from '../ports/protocol-schemas.ts';
import { askFresh } from './ask-fresh.ts';
import { askOrSearch } from './ask-or-search.ts';
import { nameOf, wordOf } from './find-definitions.ts';
import { countMentions, findLines } from './find-mentions.ts';
import { isGenerated, isVendored } from './is-vendored.ts';
import { type LocatedSymbol, locateSymbol, type SymbolQuestion } from './locate-symbol.ts';
import { createSourceReader, type SourceLocation, toSourceLocations } from './source-locations.ts';

interface FoundReferences {
  readonly at: string;
  /** All of them, sorted by path and position. */
  readonly items: readonly SourceLocation[];
  readonly precision: 'server' | 'text';
  readonly complete: boolean;
  readonly notes: readonly string[];
}

const maxByText = 2000;
const maxListed = 10;

/** Finds the uses of a symbol with its language server, or by text if there is none. */
export function findReferences(
  question: SymbolQuestion,
  context: ToolContext,
  { withDeclaration }: { readonly withDeclaration: boolean },
): Promise<FoundReferences> {
  return askOrSearch<FoundReferences>(context, {
    locate: () => locateSymbol(question, context),
    async ask(server, target) {
      const complete = await server.whenReady();
      const found = await askReferences(server, target, context, withDeclaration);
      const notes = [
        ...(complete ? [] : ['the language server still reads the project: ask again']),
        ...found.notes,
        ...(await textNote(context, target.word, found.named)),
      ];
      return { at: nameOf(question, target), items: found.items, precision: 'server', complete, notes };
    },
    search: (why) => searchByText(question, context, why),
  });
}

async function askReferences(
  server: LanguageServer,
  { path, position }: LocatedSymbol,
  { workspace }: ToolContext,
  includeDeclaration: boolean,
) {
  return askFresh(server, async () => {
    await server.open(path);
    const params = { textDocument: { uri: toUri(server.root, path) }, position, context: { includeDeclaration } };
    const locations = Locations.parse(await server.request('textDocument/references', params));
    const read = createSourceReader(workspace.files);
    const { located, files, misfits } = await toSourceLocations(server, locations, read);
    const hidden = new Set<string>();
    for (const file of files)
      if (file !== path && (isVendored(file) || isGenerated(await read(file)))) hidden.add(file);
    const items = located.filter((location) => !location.external && !hidden.has(location.path)).sort(byLocation);
    const left = located.length - items.length;
    const notes = left === 0 ? [] : [`${left} more in vendored or generated files`];
    return { answer: { items, notes, named: files }, files: [...files, path], misfits };
  });
}

function byLocation(a: SourceLocation, b: SourceLocation): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return a.line - b.line || a.col - b.col;
}

/** Files that have the word and that the server did not name: other languages, texts, dynamic uses. */
async function textNote(context: ToolContext, word: string, named: ReadonlySet<string>): Promise<string[]> {
  const others = [...(await countMentions(context, word))].filter(([path]) => !named.has(path)).sort();
  if (others.length === 0) return [];
  const listed = others.slice(0, maxListed).map(([path, count]) => `${path} (${count})`);
  const more = others.length > maxListed ? ` and ${others.length - maxListed} more files` : '';
  return [`also as text in: ${listed.join(', ')}${more}`];
}

async function searchByText(question: SymbolQuestion, context: ToolContext, why: string): Promise<FoundReferences> {
  const word = await wordOf(question, context);
  if (word === '') throw new AppError('E_INVALID_INPUT', 'symbol is required, or file_path, line and col');
  const pattern = `\\b${word.replaceAll(/[^\p{L}\p{N}_]/gu, '\\$&')}\\b`;
  const found = await findLines(context, pattern, word, maxByText);
  const items = found.map(({ path, line, col, text }) => ({ path, line, col, text: text.slice(0, 160) }));
  const cut = found.length < maxByText ? [] : [`only the first ${maxByText} lines`];
  const notes = [`by text, not by a language server: ${why}`, ...cut];
  return { at: nameOf(question), items, precision: 'text', complete: false, notes };
}
