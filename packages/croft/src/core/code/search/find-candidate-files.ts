import { runRipgrep } from '../../content/search/ripgrep.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { ParsedQuery } from '../ports/code-index.ts';
import { splitWords } from './split-words.ts';

/** A file with words of the query, in its text or in its path. */
export interface CandidateFile {
  readonly path: string;
  /** The lines with words of the query, from 1, and the terms that each has, by their index. */
  readonly lines: ReadonlyMap<number, { readonly text: string; readonly terms: ReadonlySet<number> }>;
  readonly terms: ReadonlySet<number>;
}

interface Candidates {
  readonly files: readonly CandidateFile[];
  /** How many files have each term, by its index. */
  readonly frequencies: readonly number[];
  readonly isComplete: boolean;
}

const maxFiles = 20_000;
const maxLinesPerFile = 60;
const maxColumns = 300;
/** Shorter words are found as whole words only. */
const minPartLength = 3;

interface CandidateSearch {
  readonly query: ParsedQuery;
  readonly scope: string;
  /** Only these files. Absent: all files in the scope. */
  readonly paths?: readonly string[] | undefined;
  readonly signal: AbortSignal;
}

/** Finds the files that have any word of the query. Ignored files and node_modules are left out, as in `grep`. */
export async function findCandidateFiles(workspace: Workspace, search: CandidateSearch): Promise<Candidates> {
  const files = new Map<string, OpenCandidate>();
  let isComplete = true;
  await runRipgrep(workspace, {
    args: toArguments(search),
    ...{ scope: search.scope, signal: search.signal, record: 'path-and-line' },
    onRecord(record) {
      const end = record.indexOf(0);
      const path = record.toString('utf8', 0, end).replace(/^\.\//, '');
      const file = files.get(path) ?? newCandidate(path, search.query);
      if (!files.has(path) && files.size >= maxFiles) isComplete = false;
      else files.set(path, file);
      addLine(file, record.toString('utf8', end + 1), search.query);
      return isComplete;
    },
  });
  const found = [...files.values()].filter(({ terms }) => terms.size > 0);
  const frequencies = search.query.terms.map((_, index) => found.filter(({ terms }) => terms.has(index)).length);
  return { files: found, frequencies, isComplete };
}

function toArguments({ query: { terms, joined }, scope, paths }: CandidateSearch): string[] {
  const wanted = new Set([...terms.flatMap(({ forms }) => forms), ...(joined === '' ? [] : [joined])]);
  return [
    ...['--fixed-strings', '--ignore-case', '--line-number', '--no-heading', '--with-filename'],
    ...[`--max-count=${maxLinesPerFile}`, `--max-columns=${maxColumns}`, '--max-columns-preview', '--max-filesize=1M'],
    ...(scope.includes('node_modules') ? [] : ['--glob=!node_modules/']),
    ...[...wanted].map((word) => `--regexp=${word}`),
    ...['--', ...(paths?.map((path) => `./${path}`) ?? (scope === '' ? ['.'] : []))],
  ];
}

interface OpenCandidate extends CandidateFile {
  readonly lines: Map<number, { readonly text: string; readonly terms: ReadonlySet<number> }>;
  readonly terms: Set<number>;
}

function newCandidate(path: string, query: ParsedQuery): OpenCandidate {
  return { path, lines: new Map(), terms: termsIn(path, query) };
}

/** Parses a line of ripgrep: its number, a colon and its text. */
function addLine(file: OpenCandidate, printed: string, query: ParsedQuery): void {
  const colon = printed.indexOf(':');
  const text = printed.slice(colon + 1).trim();
  const terms = termsIn(text, query);
  if (terms.size === 0) return;
  file.lines.set(Number(printed.slice(0, colon)), { text, terms });
  for (const term of terms) file.terms.add(term);
}

/** The terms that occur in a text, by their index. A word may be part of a longer one, unless it is very short. */
function termsIn(text: string, { terms }: ParsedQuery): Set<number> {
  const lower = text.toLowerCase();
  const words = new Set(splitWords(text));
  const has = (form: string) => (form.length < minPartLength ? words.has(form) : lower.includes(form));
  return new Set(terms.flatMap(({ forms }, index) => (forms.some(has) ? [index] : [])));
}
