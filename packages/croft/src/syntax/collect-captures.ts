import type { Node, QueryCapture, QueryMatch } from 'web-tree-sitter';
import { type SymbolKind, symbolKinds } from '../core/code/code-symbol.ts';
import type { CommentOrDecorator } from './comments-and-decorators.ts';

/** A definition that a pattern of the query has found. */
export interface FoundDefinition {
  readonly kind: SymbolKind;
  readonly node: Node;
  readonly name: Node;
  readonly body?: Node | undefined;
  readonly isExpression: boolean;
  readonly params?: Node | undefined;
  readonly receiver?: string | undefined;
}

/** A container that is no definition itself. */
interface FoundScope {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Captures {
  readonly definitions: readonly FoundDefinition[];
  readonly scopes: readonly FoundScope[];
  readonly trivia: readonly CommentOrDecorator[];
  readonly literals: readonly Span[];
  /** Ordered by their start. */
  readonly docstrings: ReadonlyMap<number, Span>;
  readonly heredocs: readonly Span[];
}

/** Sorts what a query has captured. For a name that several patterns capture, the first pattern counts. */
export function collectCaptures(matches: readonly QueryMatch[]): Captures {
  const byName = new Map<number, { readonly patternIndex: number; readonly found: FoundDefinition }>();
  const scopes: FoundScope[] = [];
  const spans = Map.groupBy(
    matches.flatMap(({ captures }) => captures.map(toNamedSpan)),
    ({ capture }) => capture,
  );
  for (const { captures, patternIndex } of matches) {
    const nodes = new Map(captures.map(({ name, node }) => [name, node]));
    const found = toDefinition(nodes);
    const known = found && byName.get(found.name.startIndex);
    if (found && patternIndex < (known?.patternIndex ?? Number.POSITIVE_INFINITY))
      byName.set(found.name.startIndex, { patternIndex, found });
    const scope = nodes.get('scope');
    if (scope) scopes.push({ ...toSpan(scope), name: nodes.get('scope.name')?.text ?? '' });
  }
  const ofKind = (capture: string) => spans.get(capture) ?? [];
  return {
    definitions: [...byName.values()].map(({ found }) => found),
    scopes,
    trivia: [
      ...ofKind('comment').map((span) => ({ ...span, isComment: true })),
      ...ofKind('decorator').map((span) => ({ ...span, isComment: false })),
    ],
    literals: ofKind('literal'),
    docstrings: new Map(ofKind('docstring').map((span) => [span.start, span])),
    heredocs: ofKind('heredoc'),
  };
}

function toNamedSpan({ name, node }: QueryCapture) {
  return { capture: name, start: node.startIndex, end: node.endIndex };
}

const kinds: ReadonlyMap<string, SymbolKind> = new Map(symbolKinds.map((kind) => [`def.${kind}`, kind]));

function toDefinition(nodes: ReadonlyMap<string, Node>): FoundDefinition | undefined {
  const name = nodes.get('name');
  const [capture, node] = [...nodes].find(([capture]) => kinds.has(capture)) ?? [];
  const kind = capture && kinds.get(capture);
  if (!kind || !name || !node) return undefined;
  const expression = nodes.get('body.expression');
  return {
    ...{ kind, node, name },
    body: expression ?? nodes.get('body'),
    isExpression: expression !== undefined,
    params: nodes.get('params'),
    receiver: nodes.get('receiver')?.text,
  };
}

function toSpan(node: Node): Span {
  return { start: node.startIndex, end: node.endIndex };
}
