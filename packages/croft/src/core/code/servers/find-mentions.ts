import { runRipgrep } from '../../content/search/ripgrep.ts';
import type { CodeContext } from './code-context.ts';

type SearchContext = Pick<CodeContext, 'signal'> & {
  readonly workspace: Pick<CodeContext['workspace'], 'withSearchBox'>;
};

/** A line that has the word. */
interface Mention {
  readonly path: string;
  /** Both from 1; columns are UTF-16 units. */
  readonly line: number;
  readonly col: number;
  readonly text: string;
}

const maxMentions = 5000;
const common = ['--no-heading', '--with-filename', '--glob=!node_modules/', '--crlf'];

/** Counts the files of the workspace in which a word stands, and how often. */
export async function countMentions({ workspace, signal }: SearchContext, word: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  await runRipgrep(workspace, {
    args: [...common, '--count-matches', '--word-regexp', '--fixed-strings', '--', word, '.'],
    ...{ scope: '', record: 'path-and-line', signal },
    onRecord(record) {
      const { path, rest } = splitRecord(record);
      counts.set(path, Number(rest) || 0);
      return counts.size < maxMentions;
    },
  });
  return counts;
}

/** Finds lines that match a regular expression of ripgrep, sorted by path and line. */
export async function findLines({ workspace, signal }: SearchContext, pattern: string, word: string, limit: number) {
  const mentions: Mention[] = [];
  await runRipgrep(workspace, {
    args: [...common, '--line-number', '--max-columns=4000', '--', pattern, '.'],
    ...{ scope: '', record: 'path-and-line', signal },
    onRecord(record) {
      const { path, rest } = splitRecord(record);
      const [, line = '1', text = ''] = /^(\d+):(.*)$/s.exec(rest) ?? [];
      mentions.push({ path, line: Number(line), text: text.trim(), col: columnOf(text, word) });
      return mentions.length < limit;
    },
  });
  return mentions.sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
}

function columnOf(text: string, word: string): number {
  const isPart = /[\p{L}\p{N}_$]/u;
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1))
    if (!isPart.test(text[at - 1] ?? ' ') && !isPart.test(text[at + word.length] ?? ' ')) return at + 1;
  return 1;
}

function splitRecord(record: Buffer): { path: string; rest: string } {
  const cut = record.indexOf(0);
  return { path: record.toString('utf8', 0, cut).replace(/^\.\//, ''), rest: record.toString('utf8', cut + 1) };
}

/** Lines that look like a definition of the word, in any language. */
export function findDeclarations(context: SearchContext, word: string, limit = 100): Promise<Mention[]> {
  const name = escapePattern(word);
  const keyword = [
    ...['function', 'class', 'const', 'let', 'var', 'interface', 'type', 'enum', 'namespace', 'module', 'def', 'fn'],
    ...['func', 'struct', 'trait', 'impl', 'union', 'record', 'object', 'val', 'static', 'macro_rules!', '#define'],
  ].join('|');
  const pattern = [
    `(?:${keyword})\\s*\\*?\\s+(?:\\([^)]*\\)\\s*)?(?:\\w+::|\\w+\\.)?${name}\\b`,
    `^\\s*(?:(?:async|get|set|static|public|private|protected|readonly|abstract|override|export|final|inline)\\s+)*\\*?#?${name}\\s*(?:<[^>]*>)?\\([^;]*\\{\\s*$`,
    `^${name}\\s*(?::[^=]*)?=[^=]`,
    `^\\s*(?:[\\w:<>*&,\\[\\]]+\\s+)+\\*?(?:\\w+::)?${name}\\s*\\([^;]*$`,
    `^${name}\\s*\\(\\)`,
  ].join('|');
  return findLines(context, pattern, word, limit);
}

function escapePattern(word: string): string {
  return word.replaceAll(/[^\p{L}\p{N}_]/gu, '\\$&');
}
