import type { CodeSymbol } from '../code-symbol.ts';
import { indentationAt, indentationUnit } from '../source-lines.ts';
import { toLines } from './indent-text.ts';
import type { Splice } from './splice.ts';

const exportWords = /^export\s+(?:default\s+)?/;
const openingBrace = 123;

/** Puts a new signature before the body. Decorators, doc comments and `export` stay. */
export function spliceSignature(bytes: Buffer, symbol: CodeSymbol, newSignature: string): Splice {
  const { start, end } = symbol.signatureRange;
  const old = bytes.toString('utf8', start, end);
  const given = newSignature.trim().replace(/\s*\{$/, '');
  const kept = exportWords.test(given) ? '' : (exportWords.exec(old)?.[0] ?? '');
  const isGlued = bytes[end] === openingBrace;
  return {
    range: { start: start + Buffer.byteLength(kept), end },
    lines: toLines(withEnding(given, old, symbol)),
    after: isGlued ? ' ' : '',
    indent: { indentation: indentationAt(bytes, start), unit: indentationUnit(bytes), isFirstBare: true },
  };
}

/** The sign between signature and body, `:` or `=>`, need not be written. */
function withEnding(given: string, old: string, { bodyRange }: CodeSymbol): string {
  const sign = bodyRange && /(?:=>|:|=)$/.exec(old)?.[0];
  if (!sign || given.endsWith(sign)) return given;
  return sign === ':' ? `${given}:` : `${given} ${sign}`;
}
