import { cutText } from '../../lib/text/cut-text.ts';

export interface Match {
  path: string;
  line?: number;
  text?: string;
  count?: number;
  isContext?: boolean;
}

export interface CollectOptions {
  readonly mode: 'content' | 'files_with_matches' | 'count';
  readonly limit: number;
  /** Ripgrep's own filter would bring back ignored files. */
  isWanted(path: string): boolean;
}

const maxLineLength = 1000;
/** As rows of text: programs and people get the same ones. */
const maxTotalLength = 900_000;

/** Takes ripgrep's records as they come, and no more of them than asked for. */
export function collectMatches({ mode, limit, isWanted }: CollectOptions) {
  const matches: Match[] = [];
  let [length, isFull] = [0, false];

  return {
    record: mode === 'files_with_matches' ? ('path' as const) : ('path-and-line' as const),
    isFull: () => isFull,
    /** What to do about it: another limit changes nothing where the lines are too long. */
    note: () =>
      `(cut at ${matches.length}; ${matches.length < limit ? 'narrow the search' : 'narrow the search or raise head_limit'})\n`,
    add(record: Buffer): boolean {
      const match = toMatch(record, mode);
      if (!match || !isWanted(match.path)) return true;
      isFull = matches.length >= limit || length > maxTotalLength;
      if (isFull) return false;
      matches.push(match);
      length += toRow(match).length + 1;
      return true;
    },
    /** By path, then as in the file: ripgrep's threads answer in any order. */
    sorted: () =>
      matches.sort((a, b) => (a.path === b.path ? (a.line ?? 0) - (b.line ?? 0) : a.path < b.path ? -1 : 1)),
  };
}

/** As ripgrep prints: `path:12:text`, `path-11-context`, `--` between what is not adjacent. */
export function renderMatches(matches: readonly Match[]): string {
  const hasContext = matches.some(({ isContext }) => isContext);
  let text = '';
  for (const [index, match] of matches.entries()) {
    const previous = matches[index - 1];
    if (hasContext && previous && !isAdjacent(previous, match)) text += '--\n';
    text += `${toRow(match)}\n`;
  }
  return text;
}

function toRow({ path, line, text, count, isContext }: Match): string {
  if (line !== undefined) return isContext ? `${path}-${line}-${text}` : `${path}:${line}:${text}`;
  return count === undefined ? path : `${path}:${count}`;
}

function isAdjacent(a: Match, b: Match): boolean {
  return a.path === b.path && (b.line ?? 0) - (a.line ?? 0) <= 1;
}

function toMatch(record: Buffer, mode: CollectOptions['mode']): Match | undefined {
  const cut = mode === 'files_with_matches' ? record.length : record.indexOf(0);
  if (cut === -1) return undefined;
  const written = record.toString('utf8', 0, cut);
  const path = written.startsWith('./') ? written.slice(2) : written;
  const rest = record.toString('utf8', cut + 1);
  if (mode === 'files_with_matches') return { path };
  if (mode === 'count') return { path, count: Number(rest) };

  const number = /^\d+/.exec(rest)?.[0] ?? '';
  const text = cutLine(rest.slice(number.length + 1).replace(/\r$/, ''));
  const isContext = rest.charAt(number.length) === '-';
  return { path, line: Number(number), text, ...(isContext && { isContext }) };
}

function cutLine(text: string): string {
  return text.length > maxLineLength ? `${cutText(text, maxLineLength)}… (line cut)` : text;
}
