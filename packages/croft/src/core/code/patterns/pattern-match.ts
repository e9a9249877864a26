import { z } from 'zod';
import { parseJson } from '../../../lib/text/parse-json.ts';
import type { SourceRange, TextPosition } from '../code-symbol.ts';

/** Code that a pattern matches. */
export interface PatternMatch {
  /** Path from the root of the workspace. */
  readonly path: string;
  readonly at: TextPosition;
  readonly endLine: number;
  readonly range: SourceRange;
  readonly text: string;
  /** The code that takes the place of some bytes, for a pattern with a rewrite. */
  readonly replacement?: (SourceRange & { readonly text: string }) | undefined;
}

const Count = z.int().nonnegative();
/** One line of `ast-grep --json=stream`. Columns are counted in code points. */
const Printed = z.object({
  text: z.string(),
  file: z.string(),
  lines: z.string(),
  replacement: z.string().optional(),
  replacementOffsets: z.object({ start: Count, end: Count }).optional(),
  range: z.object({
    byteOffset: z.object({ start: Count, end: Count }),
    start: z.object({ line: Count, column: Count }),
    end: z.object({ line: Count }),
  }),
});

/** Reads a line that ast-grep printed. Returns `undefined` for anything else. */
export function parsePatternMatch(line: string): PatternMatch | undefined {
  const { success, data } = Printed.safeParse(parseJson(line));
  if (!success) return undefined;
  const { start, end, byteOffset } = data.range;
  const before = [...data.lines.slice(0, 2 * start.column)].slice(0, start.column).join('');
  return {
    path: data.file.replace(/^\.\//, ''),
    at: { line: start.line + 1, col: before.length + 1 },
    endLine: end.line + 1,
    range: byteOffset,
    text: data.text,
    ...(data.replacement !== undefined && {
      replacement: { ...(data.replacementOffsets ?? byteOffset), text: data.replacement },
    }),
  };
}
