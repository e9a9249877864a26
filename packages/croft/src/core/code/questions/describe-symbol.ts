import type { SymbolDescription, SymbolQuestion } from '../ports/code-questions.ts';
import { toUri } from '../ports/file-uris.ts';
import { Hover } from '../ports/protocol-schemas.ts';
import { askServerOrSearchText } from '../servers/ask-server-or-search-text.ts';
import { askUntilFresh } from '../servers/ask-until-fresh.ts';
import type { CodeContext } from '../servers/code-context.ts';
import { locateSymbol } from '../servers/locate-symbol.ts';

const maxLength = 8000;

/** Returns the type and the documentation of a symbol. Throws `E_NO_SERVER` without a server. */
export function describeSymbol(question: SymbolQuestion, context: CodeContext): Promise<SymbolDescription> {
  return askServerOrSearchText(context, {
    locate: () => locateSymbol(question, context, { isTogether: true }),
    ask: (server, { path, position }) =>
      askUntilFresh(server, async () => {
        await server.open(path);
        const textDocument = { uri: toUri(server.root, path) };
        const answer = Hover.parse((await server.request('textDocument/hover', { textDocument, position })) ?? null);
        const { line, character } = position;
        const described = { path, line: line + 1, col: character + 1, content: toText(answer) };
        return { answer: described, files: [path] };
      }),
  });
}

function toText(answer: Hover): string {
  const contents = answer?.contents ?? [];
  const parts = Array.isArray(contents) ? contents : [contents];
  const text = parts.map((part) => (typeof part === 'string' ? part : part.value)).join('\n\n');
  return text.trim().slice(0, maxLength).toWellFormed();
}
