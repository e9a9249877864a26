import { classEnd, expandBraces, malformed } from './glob-braces.ts';

const maxPatternChars = 4096;

const anyName = Symbol('**');
const anyChars = Symbol('*');

type CharTest = (codePoint: number) => boolean;
type Token = string | typeof anyChars | CharTest;
/** A literal name, `**`, or the tokens of one name. */
type Segment = string | typeof anyName | Token[];
type PathTest = (path: string) => boolean;

/**
 * A test for '/'-separated relative paths. Throws `RangeError` for a malformed pattern.
 *
 * A pattern without `/` is matched against the base name; a leading `/` or `./` ties it to the top.
 * `**` spans zero or more directories, but at the end at least one name: `src/**` is not `src`.
 * Wildcards match dot files. The work for one path is at most proportional to the length of the
 * path times that of the pattern with its braces written out, whatever the pattern.
 */
export function compileGlob(pattern: string): PathTest {
  if (pattern.length > maxPatternChars) throw malformed(`is longer than ${maxPatternChars} characters`);
  const isNegated = pattern.startsWith('!');
  const matches = compileAlternatives(expandBraces(isNegated ? pattern.slice(1) : pattern).map(toSegments));
  return isNegated ? (path) => !matches(path) : matches;
}

function compileAlternatives(alternatives: Segment[][]): PathTest {
  const quick: PathTest[] = [];
  const others: Segment[][] = [];
  for (const segments of alternatives) {
    const test = compileSuffix(segments);
    if (test) quick.push(test);
    else others.push(segments);
  }
  const [only] = quick;
  if (only && alternatives.length === 1) return only;
  return (path) => quick.some((test) => test(path)) || (others.length > 0 && matchAny(others, path.split('/')));
}

function matchAny(alternatives: Segment[][], names: string[]): boolean {
  return alternatives.some((segments) => matchNames(segments, names));
}

function toSegments(pattern: string): Segment[] {
  const names = pattern.includes('/')
    ? pattern.split('/').filter((name) => name !== '' && name !== '.')
    : ['**', pattern];
  if (pattern.endsWith('/')) names.push('**');
  if (names.at(-1) === '**') names.push('*');
  return names.map((name) => (name === '**' ? anyName : toTokens(name)));
}

/** `src/**` + `/*.ts`, the shape of most patterns, needs no splitting of the path. */
function compileSuffix(segments: Segment[]): PathTest | undefined {
  const last = segments.at(-1);
  const leading = segments.slice(0, -2);
  if (segments.at(-2) !== anyName || !leading.every((name) => typeof name === 'string')) return undefined;
  if (!Array.isArray(last) || last[0] !== anyChars || last.length > 2) return undefined;
  const suffix = last[1] ?? '';
  if (typeof suffix !== 'string') return undefined;
  const prefix = leading.map((name) => `${name}/`).join('');
  return (path) => path.endsWith(suffix) && path.startsWith(prefix);
}

function toTokens(name: string): string | Token[] {
  const tokens: Token[] = [];
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

function pushToken(tokens: Token[], token: Token): void {
  const previous = tokens.at(-1);
  if (typeof token === 'string' && typeof previous === 'string') tokens[tokens.length - 1] = previous + token;
  else tokens.push(token);
}

function toToken(source: string): Token {
  if (source === '*') return anyChars;
  if (source === '?') return () => true;
  if (source.startsWith('\\')) return source.slice(1);
  return source.length > 1 ? toClass(source) : source;
}

function toClass(source: string): CharTest {
  const isNegated = source[1] === '!' || source[1] === '^';
  const members = [...source.slice(isNegated ? 2 : 1, -1).matchAll(/\\?(.)(?:-\\?(.))?/gsu)];
  const ranges = members.map(([, from = '', to = from]) => [from.codePointAt(0) ?? 0, to.codePointAt(0) ?? 0] as const);
  return (codePoint) => ranges.some(([from, to]) => from <= codePoint && codePoint <= to) !== isNegated;
}

/**
 * Both matchers below are greedy: after a wildcard they only ever go back to that wildcard, never
 * to an earlier one, which would find nothing that the later one cannot.
 */
function matchNames(segments: Segment[], names: string[]): boolean {
  let segmentAt = 0;
  let nameAt = 0;
  let afterWildcard = -1;
  let retryAt = 0;
  const lastWildcard = segments.lastIndexOf(anyName);
  while (nameAt < names.length) {
    const segment = segments[segmentAt];
    if (segment === anyName) {
      // What follows the last wildcard can only match the end.
      if (segmentAt === lastWildcard) nameAt = Math.max(nameAt, names.length - segments.length + segmentAt + 1);
      afterWildcard = ++segmentAt;
      retryAt = nameAt;
    } else if (matchName(segment, names[nameAt] ?? '')) {
      segmentAt++;
      nameAt++;
    } else if (afterWildcard >= 0) {
      segmentAt = afterWildcard;
      nameAt = ++retryAt;
    } else return false;
  }
  return segmentAt === segments.length;
}

function matchName(segment: string | Token[] | undefined, name: string): boolean {
  if (!Array.isArray(segment)) return segment === name;
  const last = segment.at(-1);
  return (typeof last !== 'string' || name.endsWith(last)) && matchTokens(segment, name);
}

function matchTokens(tokens: Token[], name: string): boolean {
  let tokenAt = 0;
  let charAt = 0;
  let afterWildcard = -1;
  // Nowhere, as long as there was no wildcard.
  let retryAt = name.length;
  while (charAt < name.length || tokenAt < tokens.length) {
    const token = tokens[tokenAt];
    if (token === anyChars) {
      afterWildcard = ++tokenAt;
      if (afterWildcard === tokens.length) return true;
      retryAt = charAt;
      continue;
    }
    const end = endOfMatch(token, name, charAt);
    if (end >= 0) {
      tokenAt++;
      charAt = end;
      continue;
    }
    retryAt = nextPlace(tokens[afterWildcard], name, retryAt);
    if (retryAt < 0) return false;
    tokenAt = afterWildcard;
    charAt = retryAt;
  }
  return true;
}

/** The first place behind `start` where `token` may match, or -1. */
function nextPlace(token: Token | undefined, name: string, start: number): number {
  if (typeof token === 'string') return name.indexOf(token, start + 1);
  return start < name.length ? endOfChar(name, start) : -1;
}

/** Where the match of `token` at `start` ends, or -1. */
function endOfMatch(token: string | CharTest | undefined, name: string, start: number): number {
  if (typeof token === 'string') return name.startsWith(token, start) ? start + token.length : -1;
  const codePoint = name.codePointAt(start);
  return codePoint !== undefined && token?.(codePoint) ? endOfChar(name, start) : -1;
}

function endOfChar(name: string, start: number): number {
  return start + ((name.codePointAt(start) ?? 0) > 0xffff ? 2 : 1);
}
