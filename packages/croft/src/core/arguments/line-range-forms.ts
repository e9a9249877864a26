import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { defineForm } from './read-arguments.ts';

const line = z.int().min(1);
/** Context lines on either side of a line, as in other systems. */
const usualContext = 20;

/** Accepts `start_line` and `end_line`, both included, for `offset` and `limit`. */
export const lineRange = defineForm(
  z.object({ start_line: line.default(1), end_line: line.optional() }),
  ({ start_line, end_line }) => toWindow(start_line, end_line),
);

/** Accepts a pair of lines, both included; -1 means the end of the file. */
export const viewRange = defineForm(
  z.object({ view_range: z.tuple([line, z.int().min(-1)]) }),
  ({ view_range: [first, last] }) => toWindow(first, last === -1 ? undefined : last),
);

/** Accepts one line with context lines before and after it. */
export const aroundLine = defineForm(
  z.object({ around_line: line, context_lines: z.int().min(0).default(usualContext) }),
  ({ around_line, context_lines }) => toWindow(Math.max(1, around_line - context_lines), around_line + context_lines),
);

function toWindow(first: number, last: number | undefined) {
  if (last === undefined) return { offset: first };
  if (last < first)
    throw new AppError('E_INVALID_INPUT', `line ${last} is before line ${first}: there is nothing between`);
  return { offset: first, limit: last - first + 1 };
}
