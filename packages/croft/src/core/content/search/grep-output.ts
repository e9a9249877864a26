import { type FarMatch, printedColumns, showLine, showStart } from './show-long-lines.ts';

/** The options of ripgrep for lines as `collectMatches` reads them. */
export const contentArguments = [
  ...['--line-number', '--column', '--byte-offset', '--no-heading', '--with-filename'],
  ...[`--max-columns=${printedColumns}`, '--max-columns-preview'],
];

export interface GrepMatch {
  path: string;
  line?: number;
  text?: string;
  count?: number;
  isContext?: boolean;
}

interface GrepCollectOptions {
  readonly mode: 'content' | 'files_with_matches' | 'count';
  readonly limit: number;
  /** Filters here, because ripgrep's own filter would bring back ignored files. */
  isWanted(path: string): boolean;
}

/** Limit for the rows of text: programs and people get the same rows. */
const maxTotalLength = 900_000;

/** Collects ripgrep's records as they arrive, up to the limit. */
export function collectMatches({ mode, limit, isWanted }: GrepCollectOptions) {
  const matches: GrepMatch[] = [];
  const far: FarMatch[] = [];
  let [length, isFull] = [0, false];

  return {
    record: mode === 'files_with_matches' ? ('path' as const) : ('path-and-line' as const),
    isFull: () => isFull,
    /** Advice for a cut result: a higher limit does not help if the lines are too long. */
    note: () =>
      `(cut at ${matches.length}; ${matches.length < limit ? 'narrow the search' : 'narrow the search or raise head_limit'})\n`,
    add(record: Buffer): boolean {
      const { match, farAt } = toMatch(record, mode) ?? {};
      if (!match || !isWanted(match.path)) return true;
      isFull = matches.length >= limit || length > maxTotalLength;
      if (isFull) return false;
      matches.push(match);
      if (farAt) far.push({ path: match.path, ...farAt, show: (text) => Object.assign(match, { text }) });
      length += toRow(match).length + 1;
      return true;
    },
    /** Matches whose text is not read yet: they show the beginning of the line. */
    far: (): readonly FarMatch[] => far,
    /** Sorts by path and line, because ripgrep's threads answer in any order. */
    sorted: () =>
      matches.sort((a, b) => (a.path === b.path ? (a.line ?? 0) - (b.line ?? 0) : a.path < b.path ? -1 : 1)),
  };
}

/** Renders matches as ripgrep does: `path:12:text`, `path-11-context`, and `--` between lines that are not adjacent. */
export function renderMatches(matches: readonly GrepMatch[]): string {
  const hasContext = matches.some(({ isContext }) => isContext);
  let text = '';
  for (const [index, match] of matches.entries()) {
    const previous = matches[index - 1];
    if (hasContext && previous && !isAdjacent(previous, match)) text += '--\n';
    text += `${toRow(match)}\n`;
  }
  return text;
}

function toRow({ path, line, text, count, isContext }: GrepMatch): string {
  if (line !== undefined) return isContext ? `${path}-${line}-${text}` : `${path}:${line}:${text}`;
  return count === undefined ? path : `${path}:${count}`;
}

function isAdjacent(a: GrepMatch, b: GrepMatch): boolean {
  return a.path === b.path && (b.line ?? 0) - (a.line ?? 0) <= 1;
}

interface ParsedRecord {
  readonly match: GrepMatch;
  readonly farAt?: Pick<FarMatch, 'lineStart' | 'at'> | undefined;
}

function toMatch(record: Buffer, mode: GrepCollectOptions['mode']): ParsedRecord | undefined {
  const cut = mode === 'files_with_matches' ? record.length : record.indexOf(0);
  if (cut === -1) return undefined;
  const written = record.toString('utf8', 0, cut);
  const path = written.startsWith('./') ? written.slice(2) : written;
  if (mode === 'files_with_matches') return { match: { path } };
  if (mode === 'count') return { match: { path, count: Number(record.toString('utf8', cut + 1)) } };
  return toLine(path, record.subarray(cut + 1));
}

/**
 * `12:5:300:text` for a match at the fifth byte of line 12, which begins 300 bytes into the file; `11-280-text` before
 * it.
 */
const numbers = /^(\d+)(?::(\d+):(\d+):|-\d+-)/;
const maxNumbersBytes = 64;

function toLine(path: string, row: Buffer): ParsedRecord {
  const [head = '', line, column, lineStart] = numbers.exec(row.toString('latin1', 0, maxNumbersBytes)) ?? [];
  const printed = row.subarray(head.length);
  const at = Number(column ?? 1) - 1;
  const text = showLine(printed, at);
  const isContext = column === undefined;
  return {
    match: { path, line: Number(line), text: text ?? showStart(printed, at), ...(isContext && { isContext }) },
    ...(text === undefined && { farAt: { lineStart: Number(lineStart), at } }),
  };
}
