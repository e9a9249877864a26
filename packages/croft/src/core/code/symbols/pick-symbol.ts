import { AppError } from '@croft/protocol';
import type { CodeSymbol, ParsedFile } from '../code-symbol.ts';
import { fullName, matchesAddress, parseSymbolAddress, type SymbolAddress } from './symbol-address.ts';
import { ambiguous, noSymbol } from './symbol-errors.ts';

/** How a caller names a symbol: by name, by position, or both. */
export interface SymbolQuery {
  readonly symbol?: string | undefined;
  /** Line number, from 1. */
  readonly line?: number | undefined;
  /** Column in UTF-16 units, from 1. */
  readonly col?: number | undefined;
}

export interface QueriedFile {
  readonly path: string;
  readonly bytes: Buffer;
  readonly parsed: ParsedFile;
}

/** Finds one symbol in one file. Throws `E_NO_SYMBOL` or `E_AMBIGUOUS`. */
export function pickSymbol(file: QueriedFile, query: SymbolQuery, kind?: string): CodeSymbol {
  const { symbol: written, line, col } = query;
  if (written !== undefined) return pickOne(matchesIn(file, query), written, file, kind);
  if (line === undefined) throw new AppError('E_INVALID_INPUT', 'symbol is required, or line with file_path');
  if (col === undefined) return pickOnLine(file, line);
  const name = identifierAt(file, line, col);
  const defined = file.parsed.symbols.filter(({ at }) => at.line === line && at.col === name.col);
  const named = defined.length > 0 ? defined : file.parsed.symbols.filter((symbol) => symbol.name === name.text);
  return pickOne(named, name.text, file, kind);
}

/** The symbols of a file that the query names. */
export function matchesIn({ parsed }: Pick<QueriedFile, 'parsed'>, { symbol = '', line }: SymbolQuery): CodeSymbol[] {
  const address = parseSymbolAddress(symbol);
  const named = parsed.symbols.filter((each) => matchesAddress(each, address));
  const placed = line === undefined ? named : narrowToLine(named, line);
  return narrowByNumber(placed, address);
}

/** Definitions that begin on the line; without one, those around it. */
function narrowToLine(symbols: readonly CodeSymbol[], line: number): CodeSymbol[] {
  const begun = symbols.filter(({ at }) => at.line === line);
  return begun.length > 0 ? begun : symbols.filter(({ at, endLine }) => at.line <= line && line <= endLine);
}

/**
 * A symbol at the top of the file whose whole name is given comes before those that only end in that name, and a class
 * before the constructors that are named like it.
 */
function narrowByNumber(symbols: readonly CodeSymbol[], { overload, onLine, names }: SymbolAddress): CodeSymbol[] {
  const index = overload ?? (onLine === undefined ? undefined : onLine - 1);
  if (index !== undefined) return symbols.slice(index, index + 1);
  const whole = symbols.filter(({ containers }) => containers.length + 1 === names.length);
  if (whole.length === 1) return whole;
  const others = symbols.filter(({ name, containers }) => containers.at(-1) !== name);
  return others.length > 0 ? others : [...symbols];
}

function pickOne(
  found: readonly CodeSymbol[],
  written: string,
  { path, parsed }: QueriedFile,
  kind?: string,
): CodeSymbol {
  const [symbol] = found;
  if (!symbol) throw noSymbol(written, ` in ${path}`, parsed.symbols.map(fullName), kind);
  if (found.length > 1)
    throw ambiguous(
      written,
      found.map((each) => ({ path, symbol: each })),
    );
  return symbol;
}

/** The definition that begins on the line, or else the innermost one around it. */
function pickOnLine({ path, parsed }: QueriedFile, line: number): CodeSymbol {
  const begun = parsed.symbols.filter(({ at }) => at.line === line);
  if (begun.length > 1)
    throw ambiguous(
      `line ${line}`,
      begun.map((symbol) => ({ path, symbol })),
    );
  const around = parsed.symbols.filter(({ at, endLine }) => at.line <= line && line <= endLine);
  const symbol = begun[0] ?? around.at(-1);
  if (symbol) return symbol;
  throw new AppError('E_NO_SYMBOL', `no definition is at line ${line} of ${path}`, { details: { nearest: [] } });
}

const identifier = /#?[\p{L}_$][\p{L}\p{N}_$]*[?!]?/gu;
const maxListed = 20;

/** The identifier at a column, or one column beside it. */
export function identifierAt({ path, bytes }: Pick<QueriedFile, 'path' | 'bytes'>, line: number, col: number) {
  const text = lineOf(bytes, line);
  const found = [...text.matchAll(identifier)].map(({ 0: name, index }) => ({ text: name, col: index + 1 }));
  const distance = (name: (typeof found)[number]) =>
    Math.max(name.col - col, col - (name.col + name.text.length - 1), 0);
  const [nearest] = found.filter((name) => distance(name) <= 1).sort((a, b) => distance(a) - distance(b));
  if (nearest) return nearest;
  const listed = found.slice(0, maxListed).map((name) => `${name.text} (${name.col})`);
  const there = listed.length === 0 ? 'the line has none' : `the line has ${listed.join(', ')}`;
  throw new AppError('E_NO_SYMBOL', `no identifier is at ${path}:${line}:${col}; ${there}`, {
    details: { identifiers: found.slice(0, maxListed) },
  });
}

function lineOf(bytes: Buffer, line: number): string {
  let start = 0;
  for (let count = 1; count < line; count++) {
    const newline = bytes.indexOf(10, start);
    if (newline === -1) return '';
    start = newline + 1;
  }
  const newline = bytes.indexOf(10, start);
  return bytes
    .toString('utf8', start, newline === -1 ? bytes.length : newline)
    .replace(/^\u{feff}/u, '')
    .slice(0, 20_000);
}
