import { AppError } from '@croft/protocol';
import type { CallNode, CallsQuestion, FoundCalls, LocatedSymbol } from '../ports/code-questions.ts';
import { fromUri, toUri } from '../ports/file-uris.ts';
import type { LanguageServer } from '../ports/language-servers.ts';
import { type CallItem, CallItems, IncomingCalls, OutgoingCalls } from '../ports/protocol-schemas.ts';
import { useServerOf } from '../servers/ask-server-or-search-text.ts';
import { askUntilFresh } from '../servers/ask-until-fresh.ts';
import type { CodeContext } from '../servers/code-context.ts';
import { kindName } from '../servers/document-symbols.ts';
import { locateSymbol } from '../servers/locate-symbol.ts';

type CallTreeOptions = Pick<CallsQuestion, 'direction' | 'depth'>;

const maxNodes = 500;

/**
 * Lists the callers of a function, or the functions that it calls, up to a depth. A function that occurs again is not
 * followed.
 */
export async function findCalls(question: CallsQuestion, context: CodeContext): Promise<FoundCalls> {
  const { others: _, ...target } = await locateSymbol(question, context, { isTogether: true });
  return useServerOf(target.path, context, async (server) => {
    if (!server.capabilities.callHierarchyProvider)
      throw new AppError('E_NO_SERVER', `the language server ${server.definition.name} cannot list calls`, {
        hint: 'Use find_references.',
      });
    const complete = await server.whenReady(target.path);
    const nodes = await askUntilFresh(server, () => askCalls(server, target, question));
    return { target, complete, nodes };
  });
}

async function askCalls(server: LanguageServer, { path, position }: LocatedSymbol, options: CallTreeOptions) {
  await server.open(path);
  const params = { textDocument: { uri: toUri(server.root, path) }, position };
  const roots = CallItems.parse((await server.request('textDocument/prepareCallHierarchy', params)) ?? null) ?? [];
  const [nodes, seen]: [CallNode[], Set<string>] = [[], new Set(roots.map(keyOf))];
  const walk = async (item: CallItem, depth: number): Promise<void> => {
    for (const next of await neighbours(server, item, options.direction)) {
      if (nodes.length >= maxNodes) return;
      const isRepeated = seen.has(keyOf(next));
      seen.add(keyOf(next));
      nodes.push(toNode(server.root, next, { depth, isRepeated }));
      if (!isRepeated && depth < options.depth) await walk(next, depth + 1);
    }
  };
  for (const root of roots) await walk(root, 1);
  return { answer: nodes, files: [path, ...nodes.filter(({ isExternal }) => !isExternal).map((node) => node.path)] };
}

async function neighbours(server: LanguageServer, item: CallItem, direction: 'in' | 'out'): Promise<CallItem[]> {
  if (direction === 'in') {
    const found = IncomingCalls.parse((await server.request('callHierarchy/incomingCalls', { item })) ?? null);
    return (found ?? []).map(({ from }) => from);
  }
  const found = OutgoingCalls.parse((await server.request('callHierarchy/outgoingCalls', { item })) ?? null);
  return (found ?? []).map(({ to }) => to);
}

function keyOf({ uri, selectionRange: { start } }: CallItem): string {
  return `${uri}:${start.line}:${start.character}`;
}

function toNode(root: string, item: CallItem, more: Pick<CallNode, 'depth' | 'isRepeated'>): CallNode {
  const target = fromUri(root, item.uri);
  const isExternal = !target || !('path' in target);
  const path = !target ? item.uri.slice(0, 200) : 'path' in target ? target.path : target.external;
  const { line, character } = item.selectionRange.start;
  // TypeScript names the top of a file by its absolute path.
  const name = item.name.startsWith('/') ? '(top of the file)' : item.name.slice(0, 200).toWellFormed();
  return { path, line: line + 1, col: character + 1, name, kind: kindName(item.kind), isExternal, ...more };
}
