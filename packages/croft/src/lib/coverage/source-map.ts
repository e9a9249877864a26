/** A segment of a source map: a position in the generated program and its source. Lines and columns count from 0. */
export interface MappingSegment {
  readonly line: number;
  readonly column: number;
  readonly source: number;
  readonly sourceLine: number;
  readonly sourceColumn: number;
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const values = new Map([...digits].map((digit, value) => [digit, value]));

/** Decodes the segments that have a source, in the order of the generated program. Malformed segments are skipped. */
export function* decodeMappings(mappings: string): Generator<MappingSegment> {
  let [source, sourceLine, sourceColumn] = [0, 0, 0];
  let line = 0;
  for (const row of mappings.split(';')) {
    let column = 0;
    for (const piece of row.split(',')) {
      const [toColumn, toSource, toLine, toSourceColumn = 0] = decodeNumbers(piece);
      // Segments must be in order; a column that went back would never be reached.
      column = Math.max(column, column + (toColumn ?? 0));
      if (toSource === undefined || toLine === undefined) continue;
      source += toSource;
      sourceLine += toLine;
      sourceColumn += toSourceColumn;
      yield { line, column, source, sourceLine, sourceColumn };
    }
    line += 1;
  }
}

/** Decodes base64 VLQ: of six bits the highest says whether more follow, and the lowest bit of a number is its sign. */
function decodeNumbers(piece: string): number[] {
  const numbers: number[] = [];
  let [value, factor] = [0, 1];
  for (const char of piece) {
    const bits = values.get(char) ?? 0;
    value += (bits % 32) * factor;
    factor *= 32;
    if (bits >= 32) continue;
    const amount = Math.floor(value / 2);
    numbers.push(value % 2 === 1 ? -amount : amount);
    [value, factor] = [0, 1];
  }
  return numbers;
}
