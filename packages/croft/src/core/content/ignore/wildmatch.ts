import type { RawName } from '../../history/trees/raw-names.ts';
import { anyBytes, anyDirectories, anyName, matchesSteps, oneByte, oneOf, type Step } from './wildmatch-steps.ts';

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
/** Bytes of each class, computed once: a pattern may name the same class thousands of times. */
const classMembers: ReadonlyMap<string, Uint8Array> = new Map(
  Object.entries(classes).map(([name, test]) => [
    name,
    Uint8Array.from({ length: 256 }, (_, code) => Number(test.test(String.fromCharCode(code)))),
  ]),
);

/** A compiled pattern. */
interface Wildmatch {
  /** Number of steps. Matching a text of n bytes takes at most 2 × n × `size` operations. */
  readonly size: number;
  matches(text: RawName): boolean;
}

/**
 * Compiles a git pattern over bytes. Matching takes time in proportion to both lengths and never more: patterns come
 * from the agent, and a slow one must not stop the server. `undefined`: the pattern matches nothing.
 */
export function compileWildmatch(pattern: RawName): Wildmatch | undefined {
  const steps: Step[] = [];
  for (let at = 0; at < pattern.length; ) {
    const next = stepAt(pattern, at);
    if (!next) return undefined;
    // A repeated `**/` means the same as one.
    if (next.step !== anyDirectories || steps.at(-1) !== anyDirectories) steps.push(next.step);
    at = next.end;
  }
  const must = longestLiteral(steps);
  return { size: steps.length, matches: (text) => text.includes(must) && matchesSteps(steps, text) };
}

/** Returns the longest run of literal bytes. Every matching text contains it, which rejects most texts at once. */
function longestLiteral(steps: readonly Step[]): string {
  const runs = steps.map((step) => (step.code >= 0 ? String.fromCharCode(step.code) : '\0')).join('');
  return runs.split('\0').reduce((longest, run) => (run.length > longest.length ? run : longest), '');
}

interface ReadStep {
  readonly step: Step;
  readonly end: number;
}

function stepAt(pattern: RawName, at: number): ReadStep | undefined {
  const character = pattern[at];
  if (character === '*') return starAt(pattern, at);
  if (character === '?') return { step: oneOf(allButSlash), end: at + 1 };
  if (character === '[') return classAt(pattern, at + 1);
  const end = character === '\\' ? at + 2 : at + 1;
  if (end > pattern.length) return undefined;
  return { step: oneByte(pattern.charCodeAt(end - 1)), end };
}

const allButSlash = new Uint8Array(256).fill(1);
allButSlash[slash] = 0;

function starAt(pattern: RawName, at: number): ReadStep {
  let end = at;
  while (pattern[end] === '*') end += 1;
  const isAlone = end - at > 1 && (at === 0 || pattern[at - 1] === '/');
  if (isAlone && end === pattern.length) return { step: anyBytes, end };
  if (isAlone && pattern[end] === '/') return { step: anyDirectories, end: end + 1 };
  return { step: isAlone && pattern.startsWith('\\/', end) ? anyBytes : anyName, end };
}

function classAt(pattern: RawName, start: number): ReadStep | undefined {
  let at = start;
  const isNegated = pattern[at] === '^' || pattern[at] === '!';
  if (isNegated) at += 1;
  const members = new Uint8Array(256);
  let previous: number | undefined;
  do {
    const member = memberAt(pattern, at, previous);
    if (!member) return undefined;
    member.addTo(members);
    previous = member.last;
    at = member.end;
  } while (pattern[at] !== ']');
  if (isNegated) for (let code = 0; code < 256; code++) members[code] = 1 - (members[code] ?? 0);
  members[slash] = 0;
  return { step: oneOf(members), end: at + 1 };
}

interface Member {
  addTo(members: Uint8Array): void;
  readonly end: number;
  /** The start of a range, if a `-` follows. */
  readonly last: number | undefined;
}

function memberAt(pattern: RawName, at: number, previous: number | undefined): Member | undefined {
  if (at >= pattern.length) return undefined;
  const following = pattern[at + 1];
  if (pattern[at] === '-' && previous !== undefined && following !== undefined && following !== ']') {
    const last = literalAt(pattern, at + 1);
    return last && rangeMember(previous, last.code, last.end, undefined);
  }
  if (pattern[at] === '[' && following === ':') return namedClassAt(pattern, at);
  const literal = literalAt(pattern, at);
  return literal && rangeMember(literal.code, literal.code, literal.end, literal.code);
}

function rangeMember(first: number, last: number, end: number, next: number | undefined): Member {
  return { addTo: (members) => members.fill(1, first, last + 1), end, last: next };
}

function literalAt(pattern: RawName, at: number): { code: number; end: number } | undefined {
  const position = pattern[at] === '\\' ? at + 1 : at;
  return position < pattern.length ? { code: pattern.charCodeAt(position), end: position + 1 } : undefined;
}

function namedClassAt(pattern: RawName, at: number): Member | undefined {
  const close = pattern.indexOf(']', at + 2);
  if (close < 0) return undefined;
  if (close === at + 2 || pattern[close - 1] !== ':') return rangeMember(91, 91, at + 1, 91);
  const named = classMembers.get(pattern.slice(at + 2, close - 1));
  if (!named) return undefined;
  const addTo = (members: Uint8Array) => {
    for (let code = 0; code < 256; code++) members[code] = (members[code] ?? 0) | (named[code] ?? 0);
  };
  return { addTo, end: close + 1, last: undefined };
}
