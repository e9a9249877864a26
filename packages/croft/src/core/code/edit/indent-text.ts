export interface IndentOptions {
  /** The indentation at the start of every line. */
  readonly indentation: string;
  /** One step of indentation in the file. */
  readonly unit: string;
  /** The first line stands where the file is already indented. */
  readonly isFirstBare?: boolean;
}

/** Indexes of lines that begin inside a string literal: such a line stays as it is written. */
export type LiteralLines = ReadonlySet<number>;

/** Splits a text that a caller wrote into lines, without blank lines around it. */
export function toLines(text: string): string[] {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  while (lines.length > 0 && lines[0]?.trim() === '') lines.shift();
  while (lines.length > 0 && lines.at(-1)?.trim() === '') lines.pop();
  return lines;
}

/** Moves lines to another indentation. Their indentation relative to each other stays, in the file's unit. */
export function indentLines(
  lines: readonly string[],
  { indentation, unit, isFirstBare = false }: IndentOptions,
  literal: LiteralLines,
): string[] {
  const code = lines.filter((line, index) => !literal.has(index) && line.trim() !== '');
  const widths = code.map((line) => leading(line).length);
  // Until string literals are known, a line inside one may seem less indented than the code.
  const common = literal.size === 0 ? leading(lines[0] ?? '').length : Math.min(...widths);
  const step = stepOf(code, common);
  return lines.map((line, index) => {
    if (literal.has(index)) return line;
    if (line.trim() === '') return '';
    const own = leading(line);
    const relative = toUnit(own.slice(Math.min(common, own.length)), step, unit);
    return (index === 0 && isFirstBare ? '' : indentation) + relative + line.slice(own.length);
  });
}

function leading(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** The smallest step of spaces between the lines. */
function stepOf(code: readonly string[], common: number): number {
  const deeper = code.map((line) => leading(line).length - common).filter((width) => width > 1);
  return deeper.length === 0 ? 4 : Math.min(...deeper);
}

/** Tabs become the file's spaces, and spaces its tabs. Spaces stay as many as they are. */
function toUnit(relative: string, step: number, unit: string): string {
  if (unit !== '\t') return relative.replaceAll('\t', unit);
  const spaces = /^ +/.exec(relative)?.[0].length ?? 0;
  return '\t'.repeat(Math.floor(spaces / step)) + ' '.repeat(spaces % step) + relative.slice(spaces);
}
