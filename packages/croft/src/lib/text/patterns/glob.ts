import { classEnd, expandBraces, globError } from './glob-braces.ts';
import { anyChars, anyName, type GlobCharTest, type GlobSegment, type GlobToken, matchNames } from './glob-match.ts';
import { StepBudget } from './step-budget.ts';

const maxPatternChars = 4096;

type PathTest = (path: string) => boolean;

/**
 * Compiles a glob into a test for '/'-separated relative paths. Throws `RangeError` for a malformed pattern.
 *
 * A pattern without `/` is matched against the base name; a leading `/` or `./` anchors it at the top. `**` spans zero
 * or more directories, but at the end at least one name: `src/**` does not match `src`. Wildcards match dot files. The
 * work for one path is at most proportional to the length of the path times that of the pattern with its braces
 * expanded. The work for all paths is limited too: the test throws `RangeError` if a pattern would take too many steps.
 */
export function compileGlob(pattern: string): PathTest {
  if (pattern.length > maxPatternChars) throw globError(`is longer than ${maxPatternChars} characters`);
  const isNegated = pattern.startsWith('!');
  const matches = compileAlternatives(expandBraces(isNegated ? pattern.slice(1) : pattern).map(toSegments));
  return isNegated ? (path) => !matches(path) : matches;
}

function compileAlternatives(alternatives: GlobSegment[][]): PathTest {
  const quick: PathTest[] = [];
  const others: GlobSegment[][] = [];
  for (const segments of alternatives) {
    const test = compileSuffix(segments);
    if (test) quick.push(test);
    else others.push(segments);
  }
  const [only] = quick;
  if (only && alternatives.length === 1) return only;
  const meter = new StepBudget();
  return (path) => {
    meter.begin(quick.length);
    return quick.some((test) => test(path)) || (others.length > 0 && matchesAny(meter, others, path.split('/')));
  };
}

function matchesAny(meter: StepBudget, alternatives: GlobSegment[][], names: string[]): boolean {
  return alternatives.some((segments) => matchNames(meter, segments, names));
}

function toSegments(pattern: string): GlobSegment[] {
  const names = pattern.includes('/')
    ? pattern.split('/').filter((name) => name !== '' && name !== '.')
    : ['**', pattern];
  if (pattern.endsWith('/')) names.push('**');
  if (names.at(-1) === '**') names.push('*');
  return names.map((name) => (name === '**' ? anyName : toTokens(name)));
}

/** A fast test for `src/**` + `/*.ts`, the shape of most patterns, that need not split the path. */
function compileSuffix(segments: GlobSegment[]): PathTest | undefined {
  const last = segments.at(-1);
  const leading = segments.slice(0, -2);
  if (segments.at(-2) !== anyName || !leading.every((name) => typeof name === 'string')) return undefined;
  if (!Array.isArray(last) || last[0] !== anyChars || last.length > 2) return undefined;
  const suffix = last[1] ?? '';
  if (typeof suffix !== 'string') return undefined;
  const prefix = leading.map((name) => `${name}/`).join('');
  return (path) => path.endsWith(suffix) && path.startsWith(prefix);
}

function toTokens(name: string): string | GlobToken[] {
  const tokens: GlobToken[] = [];
  for (let at = 0; at < name.length; ) {
    const end = tokenEnd(name, at);
    pushToken(tokens, toToken(name.slice(at, end)));
    at = end;
  }
  const [only = ''] = tokens;
  return tokens.length < 2 && typeof only === 'string' ? only : tokens;
}

function tokenEnd(name: string, start: number): number {
  if (name[start] === '[') return classEnd(name, start);
  return name[start] === '\\' ? start + 2 : start + 1;
}

function pushToken(tokens: GlobToken[], token: GlobToken): void {
  const previous = tokens.at(-1);
  if (typeof token === 'string' && typeof previous === 'string') tokens[tokens.length - 1] = previous + token;
  else tokens.push(token);
}

function toToken(source: string): GlobToken {
  if (source === '*') return anyChars;
  if (source === '?') return () => true;
  if (source.startsWith('\\')) return source.slice(1);
  return source.length > 1 ? toClass(source) : source;
}

function toClass(source: string): GlobCharTest {
  const isNegated = source[1] === '!' || source[1] === '^';
  const members = [...source.slice(isNegated ? 2 : 1, -1).matchAll(/\\?(.)(?:-\\?(.))?/gsu)];
  const ranges = mergeRanges(
    members.map(([, from = '', to = from]) => ({ from: from.codePointAt(0) ?? 0, to: to.codePointAt(0) ?? 0 })),
  );
  return (codePoint) => isInRanges(ranges, codePoint) !== isNegated;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Sorts and merges ranges, so that a class of thousands of members is searched in a few steps. */
function mergeRanges(ranges: readonly Range[]): Range[] {
  const merged: Range[] = [];
  for (const range of ranges.filter(({ from, to }) => from <= to).sort((one, other) => one.from - other.from)) {
    const last = merged.at(-1);
    if (last && range.from <= last.to) merged.splice(-1, 1, { from: last.from, to: Math.max(last.to, range.to) });
    else merged.push(range);
  }
  return merged;
}

function isInRanges(ranges: readonly Range[], codePoint: number): boolean {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.to ?? 0) < codePoint) low = middle + 1;
    else high = middle;
  }
  return (ranges[low]?.from ?? Number.POSITIVE_INFINITY) <= codePoint;
}
