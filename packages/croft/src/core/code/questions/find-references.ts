import { AppError } from '@croft/protocol';
import { sha256 } from '../../../lib/crypto/sha256.ts';
import type { SourceLocation } from '../ports/code-answers.ts';
import type { FoundLocations, LocatedSymbol, ReferencesPage, ReferencesQuestion } from '../ports/code-questions.ts';
import { toUri } from '../ports/file-uris.ts';
import type { LanguageServer } from '../ports/language-servers.ts';
import { type Location, Locations } from '../ports/protocol-schemas.ts';
import { askServerOrSearchText } from '../servers/ask-server-or-search-text.ts';
import { askUntilFresh } from '../servers/ask-until-fresh.ts';
import type { CodeContext } from '../servers/code-context.ts';
import { countMentions, findLines } from '../servers/find-mentions.ts';
import { isGenerated, isVendored } from '../servers/is-vendored.ts';
import { type LocatedSymbols, locateSymbol } from '../servers/locate-symbol.ts';
import { createSourceReader, toSourceLocations } from '../servers/source-locations.ts';
import { nameOf, wordOf } from './find-definitions.ts';
import { readCursor, toCursor } from './reference-pages.ts';

const maxByText = 2000;
const maxListed = 10;

/** Finds the uses of a symbol with its language server, or by text if there is none. Answers one page of them. */
export async function findReferences(question: ReferencesQuestion, context: CodeContext): Promise<ReferencesPage> {
  const { limit, cursor } = question;
  const { languageServers } = context.workspace;
  const tree = typeof languageServers === 'string' ? '' : await languageServers.treeVersion();
  const found = await findAll(question, context);
  // Without servers nobody follows the changes of the workspace, so the cursor belongs to exactly this list.
  const version = tree === '' ? sha256(Buffer.from(JSON.stringify(found.items))) : tree;
  const start = readCursor(cursor, version);
  const { length: total } = found.items;
  const next = start + limit < total ? toCursor(start + limit, version) : undefined;
  return { ...found, items: found.items.slice(start, start + limit), total, start, ...(next && { next }) };
}

function findAll(question: ReferencesQuestion, context: CodeContext): Promise<FoundLocations> {
  return askServerOrSearchText(context, {
    locate: () => locateSymbol(question, context, { isTogether: true }),
    async ask(server, target) {
      const complete = await server.whenReady(target.path);
      const found = await askReferences(server, target, context, question.withDeclaration);
      const notes = [
        ...(complete ? [] : [server.whyIncomplete()]),
        ...found.notes,
        ...(await textNote(context, target.word, found.named)),
      ];
      return { at: nameOf(question, target), items: found.items, precision: 'server' as const, complete, notes };
    },
    search: (why) => searchByText(question, context, why),
  });
}

async function askReferences(
  server: LanguageServer,
  { path, position, others = [] }: LocatedSymbols,
  { workspace }: CodeContext,
  includeDeclaration: boolean,
) {
  return askUntilFresh(server, async () => {
    const locations = await askAll(server, [{ path, position }, ...others], includeDeclaration);
    const read = createSourceReader(workspace.files);
    const { found: positions, files, misfits } = await toSourceLocations(server, locations, read);
    const hidden = new Set<string>();
    for (const file of files)
      if (file !== path && (isVendored(file) || isGenerated(await read(file)))) hidden.add(file);
    const items = positions.filter((location) => !location.external && !hidden.has(location.path)).sort(byLocation);
    const left = positions.length - items.length;
    const notes = left === 0 ? [] : [`${left} more in vendored or generated files`];
    return { answer: { items, notes, named: files }, files: [...files, path], misfits };
  });
}

/** TypeScript tells the uses of an interface apart from those of the constant that it merges with. */
async function askAll(
  server: LanguageServer,
  places: readonly Pick<LocatedSymbol, 'path' | 'position'>[],
  includeDeclaration: boolean,
): Promise<Location[]> {
  const all = new Map<string, Location>();
  for (const { path, position } of places) {
    await server.open(path);
    const params = { textDocument: { uri: toUri(server.root, path) }, position, context: { includeDeclaration } };
    const found = Locations.parse(await server.request('textDocument/references', params));
    for (const location of found) all.set(keyOf(location), location);
  }
  return [...all.values()];
}

function keyOf({ uri, range: { start } }: Location): string {
  return `${uri}:${start.line}:${start.character}`;
}

function byLocation(a: SourceLocation, b: SourceLocation): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return a.line - b.line || a.col - b.col;
}

/** Files that have the word and that the server did not name: other languages, texts, dynamic uses. */
async function textNote(context: CodeContext, word: string, named: ReadonlySet<string>): Promise<string[]> {
  const others = [...(await countMentions(context, word))].filter(([path]) => !named.has(path)).sort();
  if (others.length === 0) return [];
  const listed = others.slice(0, maxListed).map(([path, count]) => `${path} (${count})`);
  const more = others.length > maxListed ? ` and ${others.length - maxListed} more files` : '';
  return [`also as text in: ${listed.join(', ')}${more}`];
}

async function searchByText(question: ReferencesQuestion, context: CodeContext, why: string): Promise<FoundLocations> {
  const word = await wordOf(question, context);
  if (word === '') throw new AppError('E_INVALID_INPUT', 'symbol is required, or file_path, line and col');
  const pattern = `\\b${word.replaceAll(/[^\p{L}\p{N}_]/gu, '\\$&')}\\b`;
  const found = await findLines(context, pattern, word, maxByText);
  const items = found.map(({ path, line, col, text }) => ({ path, line, col, text: text.slice(0, 160) }));
  const cut = found.length < maxByText ? [] : [`only the first ${maxByText} lines`];
  const notes = [`by text, not by a language server: ${why}`, ...cut];
  return { at: nameOf(question), items, precision: 'text', complete: false, notes };
}
