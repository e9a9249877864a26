import { AppError } from '@croft/protocol';
import type { ToolContext } from '../../tools/tool.ts';
import { toUri } from '../ports/file-uris.ts';
import type { LanguageServer } from '../ports/language-servers.ts';
import { WorkspaceEdit } from '../ports/protocol-schemas.ts';
import { askFresh } from '../servers/ask-fresh.ts';
import { useServerOf } from '../servers/ask-or-search.ts';
import { isIdentifier } from '../servers/identifiers.ts';
import { type LocatedSymbol, locateSymbol, type SymbolQuestion } from '../servers/locate-symbol.ts';
import { type FileEdits, readFileEdits } from './file-edits.ts';
import { type EditPlan, planEdits } from './plan-edits.ts';

interface RenamePlan extends EditPlan {
  readonly target: LocatedSymbol;
  readonly complete: boolean;
}

/**
 * Asks the server for all edits that a rename needs. Throws `E_NO_SERVER` without a server: a rename by text would change
 * other names too.
 */
export async function planRename(
  { new_name: newName, ...question }: SymbolQuestion & { readonly new_name: string },
  context: ToolContext,
): Promise<RenamePlan> {
  const { workspace, session } = context;
  const target = await locateSymbol(question, context).catch(explainNoServer);
  const start = await workspace.files.version(target.path);
  if (start) session.reads.mustHaveSeen(workspace.name, start, 'rename from', target.path);
  return useServerOf(target.path, context, async (server) => {
    mustBeName(newName, server);
    const complete = await server.whenReady();
    const edits = await askEdits(server, target, newName);
    return { target, complete, ...(await planEdits(edits, context)) };
  }).catch(explainNoServer);
}

async function askEdits(
  server: LanguageServer,
  { path, position }: LocatedSymbol,
  newName: string,
): Promise<FileEdits> {
  return askFresh(server, async () => {
    await server.open(path);
    const params = { textDocument: { uri: toUri(server.root, path) }, position };
    if (canPrepare(server) && !(await server.request('textDocument/prepareRename', params))) return nothing(path);
    const answer = await server.request('textDocument/rename', { ...params, newName });
    const edits = readFileEdits(server.root, WorkspaceEdit.parse(answer ?? {}));
    return { answer: edits, files: [path, ...edits.edits.keys()] };
  });
}

function nothing(path: string) {
  return { answer: { edits: new Map(), moves: [] }, files: [path] };
}

function canPrepare({ capabilities: { renameProvider } }: LanguageServer): boolean {
  return typeof renameProvider === 'object' && renameProvider !== null && 'prepareProvider' in renameProvider;
}

function mustBeName(newName: string, { definition: { name, reservedWords = [] } }: LanguageServer): void {
  if (reservedWords.includes(newName))
    throw new AppError('E_INVALID_INPUT', `${newName} is a reserved word and cannot be a name (${name})`);
  if (!isIdentifier(newName)) throw new AppError('E_INVALID_INPUT', `${JSON.stringify(newName)} cannot be a name`);
}

function explainNoServer(thrown: unknown): never {
  if (!AppError.is(thrown) || thrown.code !== 'E_NO_SERVER') throw thrown;
  const advice =
    'a rename by text would change other names too: use ast_replace, or edit the places of find_references';
  throw new AppError('E_NO_SERVER', `${thrown.message}; ${advice}`, { details: thrown.details });
}
