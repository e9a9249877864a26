import type { RawName } from '../../history/trees/raw-names.ts';
import { compileWildmatch } from './wildmatch.ts';

/** A larger `.gitignore` is ignored. */
export const maxRuleBytes = 128 * 1024;
/**
 * Most work that the wildcard rules above a path may cost, counted in tests of a rule. Rules beyond that are ignored:
 * each rule is tried on each path, and the agent controls both. Rules without wildcards are looked up and cost nothing.
 */
export const maxRuleWork = 4096;
/** Work of each step of a rule that is matched byte by byte. */
const workPerStep = 4;
/** The kernel accepts no longer path. */
const maxPatternBytes = 4096;

type MatchText = (text: RawName) => boolean;

interface WildRule {
  readonly isNegated: boolean;
  readonly isForDirectories: boolean;
  /** Matches the last name of a path; otherwise the path from the directory of the rules. */
  readonly isForNames: boolean;
  readonly matches: MatchText;
  readonly work: number;
  /** Line number. The last matching rule decides. */
  readonly line: number;
}

/** Rules without wildcards, by name (`a`) or path (`/a/b`): the last line of each, and whether it is negated. */
type PlainRules = Map<RawName, { readonly line: number; readonly isNegated: boolean }>;

/** The parsed rules of one file. */
export interface RuleFile {
  readonly plain: PlainRules;
  readonly plainForDirectories: PlainRules;
  readonly wild: readonly WildRule[];
  /** Rules were dropped, because together they cost too much work. */
  readonly isCut: boolean;
}

/** The rules of one directory's `.gitignore`, linked to those above it. */
export interface IgnoreRules {
  readonly file: RuleFile;
  /** The wildcard rules within the work limit. */
  readonly wild: readonly WildRule[];
  /** The directory of the rules. */
  readonly base: RawName;
  readonly above: IgnoreRules | undefined;
  /** Work of these rules and those above. */
  readonly work: number;
  /** Rules of this file were dropped. */
  readonly isCut: boolean;
}

/** Parses a `.gitignore`, up to the work that its wildcards may cost. */
export function parseIgnoreRules(text: RawName): RuleFile {
  const file = { plain: new Map(), plainForDirectories: new Map(), wild: [] as WildRule[] };
  const lines = text.replace(/^\xef\xbb\xbf/, '').split('\n');
  let left = maxRuleWork;
  for (const [line, written] of lines.entries()) {
    const rule = parseRule(trimEnd(written.replace(/\r$/, '')), line);
    if (!rule || !special.test(rule.pattern)) addPlain(file, rule);
    else if (left > 0) left = addWild(file.wild, rule, left);
  }
  return { ...file, isCut: left <= 0 };
}

/** Nests a file's rules below those of the directories above, as far as the work limit allows. */
export function nestRules(file: RuleFile, base: RawName, above: IgnoreRules | undefined): IgnoreRules {
  let work = (above?.work ?? 0) + 1;
  const end = file.wild.findIndex((rule) => {
    work += rule.work;
    return work > maxRuleWork;
  });
  const wild = end < 0 ? file.wild : file.wild.slice(0, end);
  return { file, wild, base, above, work: Math.min(work, maxRuleWork), isCut: file.isCut || end >= 0 };
}

interface ParsedRule extends Pick<WildRule, 'isNegated' | 'isForDirectories' | 'isForNames' | 'line'> {
  readonly pattern: RawName;
}

function parseRule(text: string, line: number): ParsedRule | undefined {
  if (text === '' || text.startsWith('#')) return undefined;
  const isNegated = text.startsWith('!');
  const written = isNegated ? text.slice(1) : text;
  const isForDirectories = written.endsWith('/');
  const whole = isForDirectories ? written.slice(0, -1) : written;
  const isForNames = !whole.includes('/');
  const pattern = isForNames ? whole : whole.replace(/^\//, '');
  return { isNegated, isForDirectories, isForNames, line, pattern };
}

function addPlain(file: Pick<RuleFile, 'plain' | 'plainForDirectories'>, rule: ParsedRule | undefined): void {
  if (!rule) return;
  const { isForNames, isForDirectories, pattern, line, isNegated } = rule;
  const plain = isForDirectories ? file.plainForDirectories : file.plain;
  plain.set(isForNames ? pattern : `/${pattern}`, { line, isNegated });
}

/** Returns the work left for the rules that follow: none after the first rule that was too much. */
function addWild(wild: WildRule[], { pattern, ...rule }: ParsedRule, left: number): number {
  if (pattern.length > maxPatternBytes) return 0;
  const matcher = compileQuick(pattern, rule.isForNames) ?? compileSlow(pattern, rule.isForNames);
  if (!matcher) return left;
  if (matcher.work <= left) wild.push({ ...rule, ...matcher });
  return left - matcher.work;
}

/** Trailing spaces count only after a backslash. */
function trimEnd(line: string): string {
  if (!line.endsWith(' ')) return line;
  let end = 0;
  for (let at = 0; at < line.length; at++) {
    if (line[at] === '\\') at += 1;
    else if (line[at] === ' ') continue;
    end = at + 1;
  }
  return line.slice(0, end);
}

const special = /[*?[\\]/;
const oneStar = /^([^*?[\\]*)\*([^*?[\\]*)$/;
const anywhere = /^\*\*\/([^*?[\\]+)$/;

/**
 * Compiles patterns with one star, or a leading `**` and a slash, to string comparisons. Most patterns are like that.
 */
function compileQuick(pattern: RawName, isForNames: boolean): Pick<WildRule, 'matches' | 'work'> | undefined {
  const [, head, tail = ''] = oneStar.exec(pattern) ?? [];
  if (head !== undefined) {
    const fits: MatchText = (text) =>
      text.length >= head.length + tail.length && text.startsWith(head) && text.endsWith(tail);
    return { matches: isForNames ? fits : (text) => fits(text) && !hasSlash(text, head, tail), work: 1 };
  }
  const [, end] = anywhere.exec(pattern) ?? [];
  return end === undefined ? undefined : { matches: (text) => text === end || text.endsWith(`/${end}`), work: 1 };
}

/** Whether a slash lies between `head` and `tail`. */
function hasSlash(text: RawName, head: RawName, tail: RawName): boolean {
  const at = text.indexOf('/', head.length);
  return at >= 0 && at < text.length - tail.length;
}

/**
 * Compiles any other pattern. Like git, it compares the text before a path's first wildcard literally, and the rest as
 * a pattern.
 */
function compileSlow(pattern: RawName, isForNames: boolean): Pick<WildRule, 'matches' | 'work'> | undefined {
  const at = isForNames ? 0 : pattern.search(special);
  const [prefix, rest] = [pattern.slice(0, at), compileWildmatch(pattern.slice(at))];
  if (!rest) return undefined;
  const matches: MatchText = (text) => text.startsWith(prefix) && rest.matches(text.slice(at));
  return { matches, work: workPerStep * rest.size };
}

/** Whether a path is ignored, provided that its directories are not. */
export function isIgnored(from: IgnoreRules | undefined, path: RawName, isDirectory: boolean): boolean {
  return ignoreDecision(from, path, isDirectory) === 'ignored';
}

/** Returns the decision of the nearest rules, in which the last match counts. `undefined`: no rule matches. */
export function ignoreDecision(
  from: IgnoreRules | undefined,
  path: RawName,
  isDirectory: boolean,
): 'ignored' | 'kept' | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  for (let rules = from; rules; rules = rules.above) {
    const below = rules.base === '' ? path : path.slice(rules.base.length + 1);
    const rule = lastRule(rules, { name, below, isDirectory });
    if (rule) return rule.isNegated ? 'kept' : 'ignored';
  }
  return undefined;
}

interface AskedPath {
  readonly name: RawName;
  readonly below: RawName;
  readonly isDirectory: boolean;
}

function lastRule({ file, wild }: IgnoreRules, asked: AskedPath): { readonly isNegated: boolean } | undefined {
  const plain = lastPlain(file, asked);
  const after = plain?.line ?? -1;
  const last = wild.findLast((rule) => rule.line < after || isAbout(rule, asked));
  return last && last.line > after ? last : plain;
}

function isAbout(
  { isForDirectories, isForNames, matches }: WildRule,
  { name, below, isDirectory }: AskedPath,
): boolean {
  return (isDirectory || !isForDirectories) && matches(isForNames ? name : below);
}

function lastPlain({ plain, plainForDirectories }: RuleFile, { name, below, isDirectory }: AskedPath) {
  const path = `/${below}`;
  const found = [plain.get(name), plain.get(path)];
  if (isDirectory) found.push(plainForDirectories.get(name), plainForDirectories.get(path));
  return found.reduce((last, rule) => (rule && (!last || rule.line > last.line) ? rule : last), undefined);
}
