import type { MappedSymbol } from '../ports/code-index.ts';

/** The average number of characters of one token of code. */
const charsPerToken = 3.4;
const maxRow = 140;

interface RenderedMap {
  readonly text: string;
  /** How many of the definitions are shown. */
  readonly shown: number;
}

/** Renders as many definitions as fit, by file. The file with the most important definition comes first. */
export function renderRepoMap(symbols: readonly MappedSymbol[], tokens: number): RenderedMap {
  const limit = tokens * charsPerToken;
  let [low, high] = [0, symbols.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (render(symbols.slice(0, middle)).length <= limit) low = middle;
    else high = middle - 1;
  }
  return { text: render(symbols.slice(0, low)), shown: low };
}

function render(symbols: readonly MappedSymbol[]): string {
  const files = Map.groupBy(symbols, ({ path }) => path);
  return [...files]
    .map(([path, own]) => {
      const rows = own.toSorted((a, b) => a.line - b.line).map(toRow);
      return `${path}\n${rows.join('')}`;
    })
    .join('');
}

function toRow({ line, signature, name }: MappedSymbol): string {
  const container = name.split('.').slice(0, -1).join('.');
  const row = `${line} ${container === '' ? '' : `${container}: `}${signature}`;
  return `  ${row.length > maxRow ? `${row.slice(0, maxRow).toWellFormed()} …` : row}\n`;
}
