import { AppError } from '@croft/protocol';
import type { FileEdits, LocatedSymbol, RenameEdits, RenameQuestion } from '../ports/code-questions.ts';
import { toUri } from '../ports/file-uris.ts';
import type { LanguageServer } from '../ports/language-servers.ts';
import { WorkspaceEdit } from '../ports/protocol-schemas.ts';
import { useServerOf } from '../servers/ask-server-or-search-text.ts';
import { askUntilFresh } from '../servers/ask-until-fresh.ts';
import type { CodeContext } from '../servers/code-context.ts';
import { isIdentifier } from '../servers/identifiers.ts';
import { locateSymbol } from '../servers/locate-symbol.ts';
import { readFileEdits } from './read-file-edits.ts';

/** Asks the server for all edits that a rename needs. Throws `E_NO_SERVER` without a server. */
export async function askRename({ newName, ...question }: RenameQuestion, context: CodeContext): Promise<RenameEdits> {
  const target = await locateSymbol(question, context);
  return useServerOf(target.path, context, async (server) => {
    mustBeName(newName, server);
    const complete = await server.whenReady(target.path);
    return { target, complete, ...(await askEdits(server, target, newName)) };
  });
}

async function askEdits(
  server: LanguageServer,
  { path, position }: LocatedSymbol,
  newName: string,
): Promise<FileEdits> {
  return askUntilFresh(server, async () => {
    await server.open(path);
    const params = { textDocument: { uri: toUri(server.root, path) }, position };
    if (canPrepare(server) && !(await server.request('textDocument/prepareRename', params))) return nothing(path);
    const answer = await server.request('textDocument/rename', { ...params, newName });
    const edits = readFileEdits(server.root, WorkspaceEdit.parse(answer ?? {}));
    return { answer: edits, files: [path, ...edits.files.map((file) => file.path)] };
  });
}

function nothing(path: string) {
  return { answer: { files: [], moves: [] }, files: [path] };
}

function canPrepare({ capabilities: { renameProvider } }: LanguageServer): boolean {
  return typeof renameProvider === 'object' && renameProvider !== null && 'prepareProvider' in renameProvider;
}

function mustBeName(newName: string, { definition: { name, reservedWords = [] } }: LanguageServer): void {
  if (reservedWords.includes(newName))
    throw new AppError('E_INVALID_INPUT', `${newName} is a reserved word and cannot be a name (${name})`);
  if (!isIdentifier(newName)) throw new AppError('E_INVALID_INPUT', `${JSON.stringify(newName)} cannot be a name`);
}
