import { type CountedRange, isCode, partsThatRan } from './covered-lines.ts';
import { decodeMappings, type Segment } from './source-map.ts';

/** What a program was made into, and from what. */
export interface MadeFrom {
  /** Of the lines that ran, without their ends. */
  readonly lineLengths: readonly number[];
  readonly mappings: string;
  /** The texts that it was made from. */
  readonly sources: readonly string[];
}

/** For each source its lines of which something ran; `ranges` are in what was made of them. */
export function mappedLines({ lineLengths, mappings, sources }: MadeFrom, ranges: readonly CountedRange[]): number[][] {
  const parts = partsThatRan(ranges);
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

/** More of one is not looked at: a million pieces could be of one line of a million letters. */
const maxPiece = 200;

/** What of its line is meant: up to where the next one begins, if that is on the same line. */
function piece(row: string, segment: Segment, next: Segment | undefined): string {
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
