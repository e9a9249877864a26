import type { StepBudget } from './step-budget.ts';

export const anyName = Symbol('**');
export const anyChars = Symbol('*');

export type GlobCharTest = (codePoint: number) => boolean;
export type GlobToken = string | typeof anyChars | GlobCharTest;
/** One path segment of a pattern: a literal name, `**`, or the tokens of one name. */
export type GlobSegment = string | typeof anyName | GlobToken[];

/**
 * Matches path segments. Both matchers in this file are greedy: after a mismatch they go back to the last wildcard
 * only, because an earlier wildcard would find nothing more.
 */
export function matchNames(meter: StepBudget, segments: GlobSegment[], names: string[]): boolean {
  let segmentAt = 0;
  let nameAt = 0;
  let afterWildcard = -1;
  let retryAt = 0;
  const lastWildcard = segments.lastIndexOf(anyName);
  while (nameAt < names.length) {
    meter.spend(1);
    const segment = segments[segmentAt];
    if (segment === anyName) {
      // The segments after the last wildcard can only match the end.
      if (segmentAt === lastWildcard) nameAt = Math.max(nameAt, names.length - segments.length + segmentAt + 1);
      afterWildcard = ++segmentAt;
      retryAt = nameAt;
    } else if (matchName(meter, segment, names[nameAt] ?? '')) {
      segmentAt++;
      nameAt++;
    } else if (afterWildcard >= 0) {
      segmentAt = afterWildcard;
      nameAt = ++retryAt;
    } else return false;
  }
  return segmentAt === segments.length;
}

function matchName(meter: StepBudget, segment: string | GlobToken[] | undefined, name: string): boolean {
  if (!Array.isArray(segment)) return segment === name;
  const last = segment.at(-1);
  return (typeof last !== 'string' || name.endsWith(last)) && matchTokens(meter, segment, name);
}

function matchTokens(meter: StepBudget, tokens: GlobToken[], name: string): boolean {
  let tokenAt = 0;
  let charAt = 0;
  let afterWildcard = -1;
  // Before the first wildcard there is no earlier choice to try again.
  let retryAt = name.length;
  while (charAt < name.length || tokenAt < tokens.length) {
    meter.spend(1);
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
    retryAt = nextPosition(tokens[afterWildcard], name, retryAt);
    if (retryAt < 0) return false;
    tokenAt = afterWildcard;
    charAt = retryAt;
  }
  return true;
}

/** Returns the first position after `start` where `token` may match, or -1. */
function nextPosition(token: GlobToken | undefined, name: string, start: number): number {
  if (typeof token === 'string') return name.indexOf(token, start + 1);
  return start < name.length ? endOfChar(name, start) : -1;
}

/** Returns the end of the match of `token` at `start`, or -1. */
function endOfMatch(token: string | GlobCharTest | undefined, name: string, start: number): number {
  if (typeof token === 'string') return name.startsWith(token, start) ? start + token.length : -1;
  const codePoint = name.codePointAt(start);
  return codePoint !== undefined && token?.(codePoint) ? endOfChar(name, start) : -1;
}

function endOfChar(name: string, start: number): number {
  return start + ((name.codePointAt(start) ?? 0) > 0xffff ? 2 : 1);
}
