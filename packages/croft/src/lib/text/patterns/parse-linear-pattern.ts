export type PatternCharTest = (code: number) => boolean;
export type PatternAssertion = 'start' | 'end' | 'boundary' | 'no-boundary';

export type PatternNode =
  | { readonly kind: 'char'; readonly test: PatternCharTest }
  | { readonly kind: 'assert'; readonly assertion: PatternAssertion }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly part: PatternNode; readonly min: number; readonly max: number };

/** The state of the parser: `rest` is still to be read. */
interface Reader {
  rest: string;
  readonly ignoresCase: boolean;
}

const maxPatternChars = 1000;
const maxRepeats = 100;

const classes: Readonly<Record<string, PatternCharTest>> = {
  d: (code) => code >= 0x30 && code <= 0x39,
  w: isWord,
  s: (code) => code === 0x20 || (code >= 0x09 && code <= 0x0d),
};
const controls: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f', v: '\v' };
const anchors: Readonly<Record<string, PatternAssertion>> = {
  '^': 'start',
  $: 'end',
  '\\b': 'boundary',
  '\\B': 'no-boundary',
};

/** Parses a pattern. Throws a `RangeError` that says what is wrong or not supported. */
export function parsePattern(source: string): PatternNode {
  if (source.length > maxPatternChars) throw patternError(`is longer than ${maxPatternChars} characters`);
  const ignoresCase = source.startsWith('(?i)');
  const reader = { rest: source.slice(ignoresCase ? 4 : 0), ignoresCase };
  const node = parseChoice(reader);
  if (reader.rest !== '') throw patternError('has a ")" without "("');
  return node;
}

export function patternError(text: string): RangeError {
  return new RangeError(`The pattern ${text}.`);
}

export function isWord(code: number): boolean {
  return isLetter(code) || (code >= 0x30 && code <= 0x39) || code === 0x5f;
}

function parseChoice(reader: Reader): PatternNode {
  const parts: PatternNode[] = [];
  do {
    const sequence: PatternNode[] = [];
    while (reader.rest !== '' && !/^[|)]/.test(reader.rest)) sequence.push(parseRepeat(reader));
    parts.push(unwrap({ kind: 'sequence', parts: sequence }));
  } while (take(reader, /^\|/));
  const tests = parts.flatMap((part) => (part.kind === 'char' ? [part.test] : []));
  if (tests.length === parts.length) return { kind: 'char', test: toUnion(tests) };
  return unwrap({ kind: 'choice', parts });
}

function unwrap(node: PatternNode & { parts: readonly PatternNode[] }): PatternNode {
  return node.parts.length === 1 && node.parts[0] ? node.parts[0] : node;
}

function parseRepeat(reader: Reader): PatternNode {
  const part = parseAtom(reader);
  const bounds = takeBounds(reader);
  if (!bounds) return part;
  // A lazy quantifier matches the same lines.
  take(reader, /^\?/);
  if (takeBounds(reader)) throw patternError('has a quantifier after a quantifier');
  return { kind: 'repeat', part, ...bounds };
}

function takeBounds(reader: Reader): { min: number; max: number } | undefined {
  const short = take(reader, /^[*+?]/);
  if (short) return { min: short === '+' ? 1 : 0, max: short === '?' ? 1 : Number.POSITIVE_INFINITY };
  const long = take(reader, /^\{\d{1,9}(?:,\d{0,9})?\}/);
  if (!long) return undefined;
  const [lower = '', upper = lower] = long.slice(1, -1).split(',');
  const [min, max] = [Number(lower), upper === '' ? Number.POSITIVE_INFINITY : Number(upper)];
  if (max < min) throw patternError('has a repetition in the wrong order');
  if (Math.max(min, Number(upper)) > maxRepeats) throw patternError(`repeats more than ${maxRepeats} times`);
  return { min, max };
}

function parseAtom(reader: Reader): PatternNode {
  const assertion = anchors[take(reader, /^(?:[\^$]|\\[bB])/) ?? ''];
  if (assertion && takeBounds(reader)) throw patternError('repeats an anchor');
  if (assertion) return { kind: 'assert', assertion };
  if (take(reader, /^\(/)) return parseGroup(reader);
  const nothing = take(reader, /^[*+?]/);
  if (nothing) throw patternError(`has nothing before "${nothing}" to repeat`);
  if (take(reader, /^\./)) return { kind: 'char', test: (code) => code !== 0x0a };
  return { kind: 'char', test: take(reader, /^\[/) ? parseClass(reader) : fold(reader, toTest(takeChar(reader))) };
}

function parseGroup(reader: Reader): PatternNode {
  take(reader, /^\?:/);
  const kind = take(reader, /^\?.?/su);
  if (kind) throw patternError(`has "(${kind}", which is not supported: ${groupName(kind)}`);
  const group = parseChoice(reader);
  if (!take(reader, /^\)/)) throw patternError('has a "(" without ")"');
  return group;
}

function groupName(kind: string): string {
  if (/[=!]/.test(kind)) return 'a look-ahead';
  return /[<P]/.test(kind) ? 'a named group or look-behind' : 'only "(?:" and "(?i)" at the start are';
}

function parseClass(reader: Reader): PatternCharTest {
  const isInverted = take(reader, /^\^/) !== undefined;
  const tests: PatternCharTest[] = [];
  while (!take(reader, /^\]/)) tests.push(parseRange(reader));
  const test = fold(reader, toUnion(tests));
  return isInverted ? (code) => !test(code) : test;
}

function parseRange(reader: Reader): PatternCharTest {
  if (reader.rest === '') throw patternError('has a "[" without "]"');
  if (take(reader, /^\[:/)) throw patternError('has "[:", which is not supported: a named class');
  const first = takeChar(reader);
  if (!take(reader, /^-(?!\]|$)/)) return toTest(first);
  const last = takeChar(reader);
  if (typeof first !== 'number' || typeof last !== 'number') throw patternError('has a range between classes');
  if (first > last) throw patternError('has a range in the wrong order');
  return (code) => code >= first && code <= last;
}

/** Reads a code point, or the test of a class such as `\d`. */
function takeChar(reader: Reader): number | PatternCharTest {
  const escaped = take(reader, /^\\(?:x[0-9a-f]{2}|.)?/isu);
  if (escaped !== undefined) return fromEscape(escaped.slice(1));
  return take(reader, /^./su)?.codePointAt(0) ?? 0;
}

function fromEscape(name: string): number | PatternCharTest {
  const test = classes[name.toLowerCase()];
  if (test) return name in classes ? test : (code) => !test(code);
  if (name.length > 2) return Number.parseInt(name.slice(1), 16);
  if (name === '') throw patternError('ends with "\\"');
  if (/[1-9]/.test(name)) throw patternError(`has "\\${name}", which is not supported: a back-reference`);
  if (/\w/.test(name) && !(name in controls)) throw patternError(`has "\\${name}", which is not supported`);
  return (controls[name] ?? name).codePointAt(0) ?? 0;
}

function take(reader: Reader, expression: RegExp): string | undefined {
  const text = expression.exec(reader.rest)?.[0];
  if (text) reader.rest = reader.rest.slice(text.length);
  return text;
}

function toTest(char: number | PatternCharTest): PatternCharTest {
  return typeof char === 'number' ? (code) => code === char : char;
}

function toUnion(tests: readonly PatternCharTest[]): PatternCharTest {
  return tests.length === 1 && tests[0] ? tests[0] : (code) => tests.some((isMember) => isMember(code));
}

function fold({ ignoresCase }: Reader, test: PatternCharTest): PatternCharTest {
  return ignoresCase ? (code) => test(code) || (isLetter(code) && test(code ^ 0x20)) : test;
}

/** Tells whether a code is an ASCII letter. */
function isLetter(code: number): boolean {
  return (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}
