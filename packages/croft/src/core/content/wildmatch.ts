import type { RawName } from '../history/raw-names.ts';

/** One step of a pattern: which bytes it takes, and how many. */
type Step =
  | { readonly kind: 'one'; readonly takes: (code: number) => boolean; readonly literal?: string }
  /** Any number of bytes but `/`. */
  | { readonly kind: 'star' }
  /** Any number of bytes. */
  | { readonly kind: 'all' }
  /** Nothing, or any number of bytes and a `/`: any number of directories. */
  | { readonly kind: 'directories' };

const slash = 47;
const classes: Readonly<Record<string, RegExp>> = {
  alnum: /[a-zA-Z0-9]/,
  alpha: /[a-zA-Z]/,
  blank: /[ \t]/,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what it means.
  cntrl: /[\0-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t-\r]/,
  upper: /[A-Z]/,
  xdigit: /[0-9a-fA-F]/,
};

/**
 * Patterns as git has them, over bytes. The time it takes grows with the length of both and not faster: patterns are the
 * agent's, and one made to be slow must not stop the server. `undefined`: it fits nothing.
 */
export function compileWildmatch(pattern: RawName): ((text: RawName) => boolean) | undefined {
  const steps: Step[] = [];
  for (let at = 0; at < pattern.length; ) {
    const next = stepAt(pattern, at);
    if (!next) return undefined;
    steps.push(next.step);
    at = next.end;
  }
  const must = longestLiteral(steps);
  return (text) => text.includes(must) && fits(steps, text);
}

/** What every text that fits holds: most do not, and are known by it at once. */
function longestLiteral(steps: readonly Step[]): string {
  const runs = steps.map((step) => (step.kind === 'one' && step.literal !== undefined ? step.literal : '\0')).join('');
  return runs.split('\0').reduce((longest, run) => (run.length > longest.length ? run : longest), '');
}

function stepAt(pattern: RawName, at: number): { step: Step; end: number } | undefined {
  const character = pattern[at];
  if (character === '*') return starAt(pattern, at);
  if (character === '?') return { step: { kind: 'one', takes: (code) => code !== slash }, end: at + 1 };
  if (character === '[') return classAt(pattern, at + 1);
  const end = character === '\\' ? at + 2 : at + 1;
  if (end > pattern.length) return undefined;
  const wanted = pattern.charCodeAt(end - 1);
  return { step: { kind: 'one', takes: (code) => code === wanted, literal: pattern[end - 1] ?? '' }, end };
}

function starAt(pattern: RawName, at: number): { step: Step; end: number } {
  let end = at;
  while (pattern[end] === '*') end += 1;
  const isAlone = end - at > 1 && (at === 0 || pattern[at - 1] === '/');
  if (isAlone && end === pattern.length) return { step: { kind: 'all' }, end };
  if (isAlone && pattern[end] === '/') return { step: { kind: 'directories' }, end: end + 1 };
  return { step: { kind: isAlone && pattern.startsWith('\\/', end) ? 'all' : 'star' }, end };
}

function classAt(pattern: RawName, start: number): { step: Step; end: number } | undefined {
  let at = start;
  const isNegated = pattern[at] === '^' || pattern[at] === '!';
  if (isNegated) at += 1;
  const members = new Uint8Array(256);
  let previous: number | undefined;
  do {
    const member = memberAt(pattern, at, previous);
    if (!member) return undefined;
    for (const code of member.codes) members[code] = 1;
    previous = member.last;
    at = member.end;
  } while (pattern[at] !== ']');
  const takes = (code: number) => code !== slash && (members[code] === 1) !== isNegated;
  return { step: { kind: 'one', takes }, end: at + 1 };
}

interface Member {
  readonly codes: Iterable<number>;
  readonly end: number;
  /** What a range that follows begins with. */
  readonly last: number | undefined;
}

function memberAt(pattern: RawName, at: number, previous: number | undefined): Member | undefined {
  if (at >= pattern.length) return undefined;
  const following = pattern[at + 1];
  if (pattern[at] === '-' && previous !== undefined && following !== undefined && following !== ']') {
    const last = literalAt(pattern, at + 1);
    return last && { codes: range(previous, last.code), end: last.end, last: undefined };
  }
  if (pattern[at] === '[' && following === ':') return namedClassAt(pattern, at);
  const literal = literalAt(pattern, at);
  return literal && { codes: [literal.code], end: literal.end, last: literal.code };
}

function literalAt(pattern: RawName, at: number): { code: number; end: number } | undefined {
  const place = pattern[at] === '\\' ? at + 1 : at;
  return place < pattern.length ? { code: pattern.charCodeAt(place), end: place + 1 } : undefined;
}

function namedClassAt(pattern: RawName, at: number): Member | undefined {
  const close = pattern.indexOf(']', at + 2);
  if (close < 0) return undefined;
  if (close === at + 2 || pattern[close - 1] !== ':') return { codes: [91], end: at + 1, last: 91 };
  const members = classes[pattern.slice(at + 2, close - 1)];
  if (!members) return undefined;
  const codes = [...range(0, 255)].filter((code) => members.test(String.fromCharCode(code)));
  return { codes, end: close + 1, last: undefined };
}

function* range(first: number, last: number): Generator<number> {
  for (let code = first; code <= last; code++) yield code;
}

/** Goes through the text once, with all the places of the pattern at which it can be. */
function fits(steps: readonly Step[], text: RawName): boolean {
  let here = new Uint8Array(steps.length + 1);
  let next = new Uint8Array(steps.length + 1);
  here[0] = 1;
  skipEmpty(steps, here);
  for (let at = 0; at < text.length; at++) {
    next.fill(0);
    if (!advance(steps, here, next, text.charCodeAt(at))) return false;
    skipEmpty(steps, next);
    [here, next] = [next, here];
  }
  return here[steps.length] === 1;
}

function advance(steps: readonly Step[], here: Uint8Array, next: Uint8Array, code: number): boolean {
  let isAnywhere = false;
  for (const [place, step] of steps.entries()) {
    if (here[place] === 0) continue;
    const [stays, goes] = [canStay(step, code), canGo(step, code)];
    // Inside of directories that are being passed over, what comes next begins after a `/` only.
    if (stays && next[place] !== 1) next[place] = step.kind === 'directories' ? 2 : 1;
    if (goes) next[place + 1] = 1;
    isAnywhere ||= stays || goes;
  }
  return isAnywhere;
}

function canStay({ kind }: Step, code: number): boolean {
  return kind === 'star' ? code !== slash : kind !== 'one';
}

function canGo(step: Step, code: number): boolean {
  return step.kind === 'one' ? step.takes(code) : step.kind === 'directories' && code === slash;
}

/** What takes nothing can be passed over: but not in the middle of a directory's name. */
function skipEmpty(steps: readonly Step[], places: Uint8Array): void {
  for (const [place, step] of steps.entries()) if (step.kind !== 'one' && places[place] === 1) places[place + 1] = 1;
}
