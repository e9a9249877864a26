import { type CountedRange, isCode, rangesThatRan } from './covered-lines.ts';
import { decodeMappings, type MappingSegment } from './source-map.ts';

/** A generated program and the sources it was generated from. */
interface GeneratedProgram {
  /** Length of each generated line, without its line end. */
  readonly lineLengths: readonly number[];
  readonly mappings: string;
  /** Texts of the sources. */
  readonly sources: readonly string[];
}

/** Returns for each source the lines of which some code ran. `ranges` refer to the generated program. */
export function mappedLines(
  { lineLengths, mappings, sources }: GeneratedProgram,
  ranges: readonly CountedRange[],
): number[][] {
  const parts = rangesThatRan(ranges);
  const starts = startsOf(lineLengths);
  const texts = sources.map((text) => text.split('\n'));
  const found = sources.map(() => new Set<number>());
  const segments = [...decodeMappings(mappings)];
  let at = 0;
  for (const [index, segment] of segments.entries()) {
    const offset = (starts[segment.line] ?? Number.POSITIVE_INFINITY) + segment.column;
    while (at < parts.length && (parts[at]?.end ?? 0) <= offset) at++;
    const isRun = (parts[at]?.start ?? Number.POSITIVE_INFINITY) <= offset;
    const row = texts[segment.source]?.[segment.sourceLine] ?? '';
    if (isRun && isCode(piece(row, segment, segments[index + 1]))) found[segment.source]?.add(segment.sourceLine + 1);
  }
  return found.map((lines) => [...lines]);
}

/**
 * Characters of a piece that are checked. A limit, because a million segments could refer to one line of a million
 * letters.
 */
const maxPiece = 200;

/** Returns the part of the source line that a segment covers: up to the next segment, if that is on the same line. */
function piece(row: string, segment: MappingSegment, next: MappingSegment | undefined): string {
  const isHere = next?.source === segment.source && next.sourceLine === segment.sourceLine;
  const end = isHere && next.sourceColumn > segment.sourceColumn ? next.sourceColumn : row.length;
  const start = Math.max(0, segment.sourceColumn);
  return row.slice(start, Math.min(end, start + maxPiece));
}

function startsOf(lengths: readonly number[]): number[] {
  const starts: number[] = [];
  let at = 0;
  for (const length of lengths) {
    starts.push(at);
    at += length + 1;
  }
  return starts;
}
