import { AppError } from '@croft/protocol';
import type { ActionQuestion, ProposedAction } from '../ports/code-questions.ts';
import { toUri } from '../ports/file-uris.ts';
import type { LanguageServer } from '../ports/language-servers.ts';
import { CodeAction, CodeActions, type Range } from '../ports/protocol-schemas.ts';
import { useServerOf } from '../servers/ask-server-or-search-text.ts';
import { askUntilFresh } from '../servers/ask-until-fresh.ts';
import type { CodeContext } from '../servers/code-context.ts';
import { readFileEdits } from './read-file-edits.ts';

const maxActions = 50;

/**
 * Asks which changes a server proposes for some lines: quick fixes, sorted imports. Commands of servers are never run.
 */
export async function askActions(question: ActionQuestion, context: CodeContext): Promise<ProposedAction[]> {
  const { path } = await context.workspace.files.stat(question.file_path);
  return useServerOf(path, context, async (server) => {
    if (!server.capabilities.codeActionProvider)
      throw new AppError('E_NO_SERVER', `the language server ${server.definition.name} cannot propose changes`, {
        hint: 'Make the change with edit.',
      });
    await server.whenReady(path);
    const actions = await askUntilFresh(server, async () => {
      const answer = await askProposals(server, path, question);
      return { answer, files: [path] };
    });
    return Promise.all(actions.map((action) => toProposed(server, action)));
  });
}

async function askProposals(
  server: LanguageServer,
  path: string,
  { line, end_line: last = line, kind }: ActionQuestion,
) {
  const { lines } = await server.open(path);
  if (line > lines.length || last < line)
    throw new AppError('E_INVALID_INPUT', `${path} has no lines ${line}-${last}: it has ${lines.length}`);
  const end = Math.min(last, lines.length);
  const range: Range = {
    start: { line: line - 1, character: 0 },
    end: { line: end - 1, character: lines[end - 1]?.length ?? 0 },
  };
  const all = (await server.diagnostics(path)) ?? [];
  const diagnostics = all.filter(({ range: own }) => own.start.line < end && own.end.line >= line - 1);
  const textDocument = { uri: toUri(server.root, path) };
  const wanted = { diagnostics, ...(kind !== undefined && { only: [kind] }) };
  const found = await server.request('textDocument/codeAction', { textDocument, range, context: wanted });
  return (CodeActions.parse(found ?? null) ?? []).filter(({ disabled }) => !disabled).slice(0, maxActions);
}

async function toProposed(server: LanguageServer, action: CodeAction): Promise<ProposedAction> {
  const { title, kind = '' } = action;
  const { edit } = action.edit || !canResolve(server) ? action : await resolve(server, action);
  const proposed = { title: title.slice(0, 200).toWellFormed(), kind: kind.slice(0, 100) };
  return edit ? { ...proposed, edits: readFileEdits(server.root, edit) } : proposed;
}

async function resolve(server: LanguageServer, action: CodeAction): Promise<CodeAction> {
  return CodeAction.parse(await server.request('codeAction/resolve', action));
}

function canResolve({ capabilities: { codeActionProvider } }: LanguageServer): boolean {
  return (codeActionProvider as { resolveProvider?: unknown } | null)?.resolveProvider === true;
}
