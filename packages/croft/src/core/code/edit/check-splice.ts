import { AppError } from '@croft/protocol';
import { type CodeSymbol, maxSymbolsPerFile, type ParsedFile, type SourceRange } from '../code-symbol.ts';
import { fullName } from '../symbols/symbol-address.ts';

/** The part that a change must keep: the body in its place, the name, or only the neighbours. */
export type SpliceKind = 'body' | 'signature' | 'symbol' | 'insertion' | 'removal';

interface CheckedSplice {
  readonly kind: SpliceKind;
  readonly target: CodeSymbol;
  readonly before: ParsedFile;
  readonly after: ParsedFile;
  /** Replaced bytes of the old file. */
  readonly oldRange: SourceRange;
  /** The bytes of the new file in their place. */
  readonly newRange: SourceRange;
  /** First line of the new bytes. */
  readonly firstLine: number;
}

const maxNames = 5;

/**
 * Refuses a change that breaks the file: more syntax errors than before, the symbol gone, or another definition with
 * another kind, name or extent.
 */
export function checkSplice(splice: CheckedSplice): void {
  const { before, after, firstLine } = splice;
  if (after.errors > before.errors) throw didNotParse(after, firstLine);
  if (!findTarget(splice)) throw refuse(`the new text does not define ${fullName(splice.target)} any more`);
  const lost = findLost(splice);
  if (lost.length === 0) return;
  const names = lost.slice(0, maxNames).map((symbol) => `${symbol.kind} ${fullName(symbol)} (line ${symbol.at.line})`);
  throw refuse(`other definitions would change: ${names.join(', ')}${lost.length > maxNames ? ', …' : ''}`);
}

/** Finds the changed symbol in the new file. An insertion or a removal has none. */
export function findTarget({ kind, target, after, oldRange, newRange }: CheckedSplice): CodeSymbol | undefined {
  if (kind === 'insertion' || kind === 'removal') return target;
  const move = createMove(oldRange, newRange);
  const sameName = after.symbols.filter((symbol) => fullName(symbol) === fullName(target));
  if (kind === 'symbol')
    return sameName.find(({ range }) => range.start >= newRange.start && range.end <= newRange.end);
  const isSameExtent = (symbol: CodeSymbol) =>
    symbol.declarationRange.end === move.end(target.declarationRange.end) &&
    symbol.bodyRange?.end === (target.bodyRange && move.end(target.bodyRange.end));
  const isSame = (symbol: CodeSymbol) =>
    symbol.kind === target.kind &&
    symbol.bodyShape === target.bodyShape &&
    (kind === 'signature' || symbol.nameRange.start === target.nameRange.start) &&
    (symbol.bodyShape === 'indented' || isSameExtent(symbol));
  return sameName.find(isSame);
}

/** Definitions outside of the replaced bytes that are not in the new file as they were. */
function findLost({ kind, target, before, after, oldRange, newRange }: CheckedSplice): CodeSymbol[] {
  const move = createMove(oldRange, newRange);
  const found = new Set(after.symbols.flatMap(toKeys));
  const listedUpTo = endOfListing(after);
  const listed = before.symbols.filter(({ nameRange }) => move.start(nameRange.start) <= listedUpTo);
  return listed.filter((symbol) => {
    const { range, nameRange, declarationRange } = symbol;
    if (symbol === target && kind !== 'insertion') return false;
    const isReplaced = range.start >= oldRange.start && range.end <= oldRange.end && oldRange.start < oldRange.end;
    if (isReplaced || (kind === 'signature' && isInside(nameRange, oldRange))) return false;
    const start = move.start(nameRange.start);
    // An indented block ends where its last line ends, so its end may be another one.
    if (symbol.bodyShape === 'indented' && declarationRange.end >= oldRange.start)
      return !found.has(toKey(symbol, start));
    return !found.has(toKey(symbol, start, move.end(declarationRange.end)));
  });
}

/** The end of the listed definitions: of very many, the last ones are not listed. */
function endOfListing({ symbols }: ParsedFile): number {
  const isCut = symbols.length >= maxSymbolsPerFile;
  return isCut ? (symbols.at(-1)?.nameRange.start ?? 0) : Number.POSITIVE_INFINITY;
}

function isInside(inner: SourceRange, outer: SourceRange): boolean {
  return inner.start >= outer.start && inner.end <= outer.end;
}

/** Positions after the replaced bytes move; those before stay. What ends at an insertion is before it. */
function createMove(oldRange: SourceRange, newRange: SourceRange) {
  const added = newRange.end - newRange.start - (oldRange.end - oldRange.start);
  return {
    start: (at: number) => (at >= oldRange.end ? at + added : at),
    end: (at: number) => (at >= oldRange.end && at > oldRange.start ? at + added : at),
  };
}

function toKeys(symbol: CodeSymbol): string[] {
  const { nameRange, declarationRange } = symbol;
  return [toKey(symbol, nameRange.start), toKey(symbol, nameRange.start, declarationRange.end)];
}

function toKey(symbol: CodeSymbol, start: number, end?: number): string {
  return `${start}:${end ?? ''}:${symbol.kind}:${fullName(symbol)}`;
}

function didNotParse({ errorLines }: ParsedFile, firstLine: number): AppError {
  const line = errorLines.find((each) => each >= firstLine) ?? errorLines[0];
  const where = line === undefined ? '' : ` at line ${line} of the result`;
  return new AppError('E_NOT_PARSED', `replacement did not parse: syntax error${where}`, {
    details: { lines: errorLines },
  });
}

function refuse(why: string): AppError {
  return new AppError('E_NOT_PARSED', `replacement did not parse as intended: ${why}`);
}
