import { lastAtMost } from './source-text.ts';

/** A comment or a decorator, by offsets. */
export interface CommentOrDecorator {
  readonly start: number;
  readonly end: number;
  readonly isComment: boolean;
}

/** The comments and decorators of a file, which belong to the definition that follows them closely. */
export interface CommentsAndDecorators {
  /** Returns where the comments and decorators begin that stand directly above `start`, without a blank line. */
  above(start: number): number;
  /** Returns where the declaration begins that starts with decorators at `start`. */
  afterDecorators(start: number): number;
  /** Returns where the comments begin that are alone on the lines before `start`, up to `limit`. */
  commentsBefore(start: number, limit: number): number;
  /** Returns the end of the code before `at`: without white space and comments. */
  codeEndBefore(at: number, limit: number): number;
  /** The first comment from `start` to `end`. */
  firstComment(start: number, end: number): string | undefined;
}

export function createCommentsAndDecorators(text: string, nodes: readonly CommentOrDecorator[]): CommentsAndDecorators {
  const sorted = nodes.map((node) => trimEnd(text, node)).sort((a, b) => a.end - b.end || a.start - b.start);
  const ends = sorted.map(({ end }) => end);
  const byStart = new Map(sorted.map((node) => [node.start, node]));
  /** The node that ends last before `at`, if only white space is between. */
  const before = (at: number): CommentOrDecorator | undefined => {
    const node = sorted[lastAtMost(ends, at)];
    return node && node.start < at && text.slice(node.end, at).trim() === '' ? node : undefined;
  };
  const isAlone = ({ start }: CommentOrDecorator) =>
    text.slice(text.lastIndexOf('\n', start - 1) + 1, start).trimStart() === '';

  return {
    above(start) {
      let first = start;
      for (let node = before(first); node; node = before(first)) {
        const isClose = !hasBlankLine(text.slice(node.end, first));
        if (!isClose || (node.isComment && !(isAlone(node) && !text.startsWith('#!', node.start)))) break;
        first = node.start;
      }
      return first;
    },
    afterDecorators(start) {
      let at = start;
      for (let node = byStart.get(at); node && !(node.isComment && at === start); node = byStart.get(at))
        at = skipSpace(text, node.end);
      return at;
    },
    commentsBefore(start, limit) {
      let first = start;
      for (let node = before(first); node && node.start >= limit && isAlone(node); node = before(first))
        first = node.start;
      return first;
    },
    codeEndBefore(at, limit) {
      let end = trimmedEnd(text, at);
      for (let node = before(end); node?.isComment && node.end === end && node.start > limit; node = before(end))
        end = trimmedEnd(text, node.start);
      return Math.max(end, limit);
    },
    firstComment(start, end) {
      for (let index = lastAtMost(ends, start) + 1; (ends[index] ?? end + 1) <= end; index++) {
        const node = sorted[index];
        if (node?.isComment && node.start >= start) return text.slice(node.start, node.end);
      }
      return undefined;
    },
  };
}

/** Some grammars count the end of the line to a comment. */
function trimEnd(text: string, { start, end, isComment }: CommentOrDecorator): CommentOrDecorator {
  return { start, end: trimmedEnd(text, end), isComment };
}

function trimmedEnd(text: string, at: number): number {
  let end = at;
  while (end > 0 && isSpace(text.charCodeAt(end - 1))) end--;
  return end;
}

function skipSpace(text: string, at: number): number {
  let next = at;
  while (next < text.length && isSpace(text.charCodeAt(next))) next++;
  return next;
}

function isSpace(unit: number): boolean {
  return unit === 32 || (unit >= 9 && unit <= 13);
}

function hasBlankLine(gap: string): boolean {
  return gap.indexOf('\n') !== gap.lastIndexOf('\n');
}
