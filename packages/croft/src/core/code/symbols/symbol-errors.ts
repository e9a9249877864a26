import { AppError } from '@croft/protocol';
import { findNearestNames } from '../../arguments/nearest-name.ts';
import type { CodeSymbol } from '../code-symbol.ts';
import { fullName } from './symbol-address.ts';

/** A symbol and the file it is in. */
interface PlacedSymbol {
  /** Relative to the root of the workspace. */
  readonly path: string;
  readonly symbol: CodeSymbol;
}

const maxRows = 20;
const maxNames = 5;

/** One line about a symbol: `path:line kind container.name signature`. */
function toSymbolRow({ path, symbol }: PlacedSymbol): string {
  return `${path}:${symbol.at.line} ${symbol.kind} ${fullName(symbol)} ${symbol.signature}`
    .slice(0, 300)
    .toWellFormed();
}

export function ambiguous(written: string, found: readonly PlacedSymbol[]): AppError {
  const rows = found.slice(0, maxRows).map(toSymbolRow);
  const more = found.length > maxRows ? [`… and ${found.length - maxRows} more`] : [];
  const isOneFile = found.every(({ path }) => path === found[0]?.path);
  const lines = found.map(({ symbol }) => `line ${symbol.at.line}`).slice(0, maxRows);
  const head = isOneFile
    ? `ambiguous: ${written} matches ${found.length} declarations at ${lines.join(', ')}`
    : `ambiguous: ${written} matches ${found.length} declarations`;
  return new AppError('E_AMBIGUOUS', [head, ...rows, ...more].join('\n'), {
    details: { candidates: found.slice(0, maxRows).map(toDetails) },
  });
}

/** `where` is the searched place: ` in a.ts`. */
export function noSymbol(written: string, where: string, known: readonly string[], kind = 'symbol'): AppError {
  const nearest = findNearestNames(written, known, maxNames);
  const advice = nearest.length === 0 ? '' : ` (nearest: ${nearest.join(', ')})`;
  return new AppError('E_NO_SYMBOL', `${kind} ${written} not found${where}${advice}`, { details: { nearest } });
}

function toDetails({ path, symbol }: PlacedSymbol) {
  return { path, line: symbol.at.line, kind: symbol.kind, name: fullName(symbol) };
}
