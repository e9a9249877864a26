const maxAlternatives = 1000;
const maxExpandedChars = 65_536;

export function globError(problem: string): RangeError {
  return new RangeError(`The glob pattern ${problem}.`);
}

interface OpenBrace {
  start: number;
  finished: string[];
  current: string[];
}

/**
 * Expands `{a,b}` and `{1..3}`. In the result every class is closed, every `\` escapes something, and `{`, `}`, `,` are
 * plain characters.
 */
export function expandBraces(pattern: string): string[] {
  const open: OpenBrace[] = [];
  let top: OpenBrace = { start: 0, finished: [], current: [''] };
  for (let at = 0; at < pattern.length; ) {
    const piece = pieceAt(pattern, at);
    at += piece.length;
    if (piece === '{') {
      open.push(top);
      top = { start: at, finished: [], current: [''] };
    } else if (piece === ',' && open.length > 0) {
      top.finished.push(...top.current);
      top.current = [''];
    } else if (piece === '}' && open.length > 0) {
      const choices = closeBrace(top, pattern.slice(top.start, at - 1));
      top = open.pop() ?? top;
      top.current = combine(top.current, choices);
    } else top.current = combine(top.current, [withoutLooseEscape(piece)]);
  }
  if (open.length > 0) throw globError('has an unclosed "{"');
  return top.current;
}

function pieceAt(pattern: string, at: number): string {
  const char = pattern.charAt(at);
  if (char === '\\') return pattern.slice(at, at + 2);
  if (char === '[') return pattern.slice(at, classEnd(pattern, at));
  if (char === '{' || char === '}' || char === ',') return char;
  const plain = /[^\\[{},]+/y;
  plain.lastIndex = at;
  return plain.exec(pattern)?.[0] ?? char;
}

/** Returns the position after the `]` that closes the class at `start`. */
export function classEnd(pattern: string, start: number): number {
  let at = start + 1;
  if (pattern[at] === '!' || pattern[at] === '^') at++;
  // A `]` directly after the opening is a member.
  for (let isFirst = true; isFirst || pattern[at] !== ']'; isFirst = false) {
    if (pattern[at] === '\\') at++;
    if (at >= pattern.length) throw globError('has an unclosed "["');
    at++;
  }
  return at + 1;
}

function withoutLooseEscape(piece: string): string {
  if (piece === '\\/') return '/';
  return piece === '\\' ? '\\\\' : piece;
}

function closeBrace({ finished, current }: OpenBrace, body: string): string[] {
  const choices = [...finished, ...current];
  if (finished.length > 0) return choices;
  return expandRange(body) ?? choices.map((choice) => `{${choice}}`);
}

function expandRange(body: string): string[] | undefined {
  const [, first = '', last = ''] = /^(-?\d{1,15})\.\.(-?\d{1,15})$/.exec(body) ?? [];
  if (first === '') return undefined;
  const from = Number(first);
  const count = Math.abs(Number(last) - from) + 1;
  if (count > maxAlternatives) throw tooMany();
  const step = Number(last) < from ? -1 : 1;
  return Array.from({ length: count }, (_, index) => String(from + index * step));
}

function combine(left: string[], right: string[]): string[] {
  if (left.length * right.length > maxAlternatives) throw tooMany();
  if (left.length === 1 && left[0] === '') return right;
  const all = left.flatMap((start) => right.map((end) => start + end));
  const chars = all.reduce((sum, { length }) => sum + length, 0);
  if (chars > maxExpandedChars)
    throw globError(`is longer than ${maxExpandedChars} characters with its braces expanded`);
  return all;
}

function tooMany(): RangeError {
  return globError(`has braces that expand to more than ${maxAlternatives} alternatives`);
}
