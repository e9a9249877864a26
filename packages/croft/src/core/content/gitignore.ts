import type { RawName } from '../history/raw-names.ts';
import { compileWildmatch } from './wildmatch.ts';

interface Rule {
  readonly isNegated: boolean;
  readonly isForDirectories: boolean;
  /** Against the last name; otherwise against the path from where the rules are. */
  readonly isForNames: boolean;
  readonly matches: (text: RawName) => boolean;
}

/** What the `.gitignore` of one directory says, and those above it. */
export interface IgnoreRules {
  readonly rules: readonly Rule[];
  /** The path of the directory they are in. */
  readonly base: RawName;
  readonly above: IgnoreRules | undefined;
}

const special = /[*?[\\]/;

/** Of the bytes of a `.gitignore`. */
export function parseIgnoreRules(text: RawName): Rule[] {
  const lines = text.replace(/^\xef\xbb\xbf/, '').split('\n');
  return lines.flatMap((line) => parseRule(trimEnd(line.replace(/\r$/, ''))) ?? []);
}

function parseRule(line: string): Rule | undefined {
  if (line === '' || line.startsWith('#')) return undefined;
  const isNegated = line.startsWith('!');
  const written = isNegated ? line.slice(1) : line;
  const isForDirectories = written.endsWith('/');
  const pattern = isForDirectories ? written.slice(0, -1) : written;
  const isForNames = !pattern.includes('/');
  const matches = isForNames ? nameMatcher(pattern) : pathMatcher(pattern.replace(/^\//, ''));
  return matches && { isNegated, isForDirectories, isForNames, matches };
}

/** Spaces at the end count only behind a backslash. */
function trimEnd(line: string): string {
  let end = 0;
  for (let at = 0; at < line.length; at++) {
    if (line[at] === '\\') at += 1;
    else if (line[at] === ' ') continue;
    end = at + 1;
  }
  return line.slice(0, end);
}

function nameMatcher(pattern: RawName): Rule['matches'] | undefined {
  if (!special.test(pattern)) return (text) => text === pattern;
  const tail = pattern.slice(1);
  if (pattern.startsWith('*') && !special.test(tail)) return (text) => text.endsWith(tail);
  return compileWildmatch(pattern);
}

/** Git compares what comes before the first wildcard on its own, and the rest as a pattern that begins there. */
function pathMatcher(pattern: RawName): Rule['matches'] | undefined {
  const at = pattern.search(special);
  if (at < 0) return (text) => text === pattern;
  const [prefix, rest] = [pattern.slice(0, at), compileWildmatch(pattern.slice(at))];
  return rest && ((text) => text.startsWith(prefix) && rest(text.slice(at)));
}

/** Of a path whose directories are not ignored themselves. */
export function isIgnored(from: IgnoreRules | undefined, path: RawName, isDirectory: boolean): boolean {
  return rulingOn(from, path, isDirectory) === 'ignored';
}

/** The nearest rules, and of these the last, decide. `undefined`: none of them says anything. */
export function rulingOn(
  from: IgnoreRules | undefined,
  path: RawName,
  isDirectory: boolean,
): 'ignored' | 'kept' | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  for (let rules = from; rules; rules = rules.above) {
    const below = rules.base === '' ? path : path.slice(rules.base.length + 1);
    const rule = rules.rules.findLast(
      (each) => (isDirectory || !each.isForDirectories) && each.matches(each.isForNames ? name : below),
    );
    if (rule) return rule.isNegated ? 'kept' : 'ignored';
  }
  return undefined;
}
