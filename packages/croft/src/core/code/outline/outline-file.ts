import type { CodeSymbol, ParsedFile, SymbolKind } from '../code-symbol.ts';

export const outlineDetails = ['names', 'signatures', 'members'] as const;
export type OutlineDetail = (typeof outlineDetails)[number];

interface OutlineOptions {
  /** How many levels of definitions are shown. */
  readonly depth: number;
  readonly detail: OutlineDetail;
}

interface OutlineItem {
  readonly symbol: CodeSymbol;
  /** How many definitions are around it. */
  readonly level: number;
}

const memberKinds: ReadonlySet<SymbolKind> = new Set(['field', 'property']);
const maxItems = 500;

/** The definitions of a file that an outline shows, each with its level. Fields are shown only as `members`. */
export function listOutline({ symbols }: ParsedFile, { depth, detail }: OutlineOptions) {
  const open: CodeSymbol[] = [];
  const items: OutlineItem[] = [];
  for (const symbol of symbols) {
    while (open.length > 0 && !isAround(open.at(-1) as CodeSymbol, symbol)) open.pop();
    const level = open.length;
    open.push(symbol);
    if (level < depth && (detail === 'members' || !memberKinds.has(symbol.kind))) items.push({ symbol, level });
  }
  return { items: items.slice(0, maxItems), left: Math.max(0, items.length - maxItems) };
}

/** Names that one declaration declares together are not inside each other. */
function isAround({ range: outer }: CodeSymbol, { range: inner }: CodeSymbol): boolean {
  return outer.end > inner.start && !(outer.start === inner.start && outer.end === inner.end);
}

/** `12-30 method add(x: T): Promise<T>`, indented by its level. A receiver stands before the name. */
export function renderOutlineItem({ symbol, level }: OutlineItem, detail: OutlineDetail): string {
  const { name, kind, containers, signature, at, endLine, doc } = symbol;
  const lines = endLine > at.line ? `${at.line}-${endLine}` : `${at.line}`;
  const full = level === 0 ? [...containers, name].join('.') : name;
  const shown = detail === 'names' ? `${kind} ${full}` : `${kind} ${full}: ${signature}`;
  const note = detail === 'members' && doc ? `  (${doc})` : '';
  return `${'  '.repeat(level)}${lines} ${shown.slice(0, 240).toWellFormed()}${note}`;
}
