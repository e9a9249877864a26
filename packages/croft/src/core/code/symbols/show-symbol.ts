import { cutLines, maxLineLength } from '../../content/read/render-window.ts';
import type { ToolContext } from '../../tools/tool.ts';
import type { CodeSymbol } from '../code-symbol.ts';
import { hashOf, lineNumber, lineStart } from '../source-lines.ts';
import type { FoundSymbol } from './find-symbol.ts';
import { fullName } from './symbol-address.ts';

/** Renders a definition with line numbers, and records which of its lines were shown whole. */
export function showSymbol(found: FoundSymbol, { workspace, session }: Pick<ToolContext, 'workspace' | 'session'>) {
  const { file, parsed, symbol } = found;
  const { path, bytes } = file;
  const start = lineStart(bytes, symbol.range.start);
  const first = lineNumber(bytes, symbol.range.start);
  const whole = bytes.toString('utf8', start, symbol.range.end);
  const lines = cutLines(whole, { offset: first, limit: Number.MAX_SAFE_INTEGER, column: 1 });
  const last = first + lines.length - 1;
  const truncated = last < symbol.endLine || lines.some(({ length }) => length > maxLineLength);
  const isShown = (each: CodeSymbol) => isInside(each, symbol) && !(truncated && each.endLine > last);
  const isWhole = !lines.some(({ length }) => length > maxLineLength);
  for (const each of isWhole ? parsed.symbols.filter(isShown) : [])
    session.reads.sawPart(workspace.name, path, hashOf(bytes, each.range));
  const content = lines.map(({ part, ending }) => part + ending).join('');
  const numbered = lines.map(({ part }, index) => `${first + index}\t${part}\n`).join('');
  const more = truncated ? [`(cut at line ${last} of ${symbol.endLine}; read on with read, offset ${last + 1})\n`] : [];
  const head = `${path}:${symbol.at.line} ${symbol.kind} ${fullName(symbol)}\n`;
  return {
    text: head + numbered,
    structured: {
      ...{ path, symbol: fullName(symbol), kind: symbol.kind, signature: symbol.signature },
      ...{ startLine: first, endLine: last, content, truncated },
    },
    forModel: { content: numbered },
    notices: more,
  };
}

function isInside(inner: CodeSymbol, outer: CodeSymbol): boolean {
  return inner.range.start >= outer.range.start && inner.range.end <= outer.range.end;
}
