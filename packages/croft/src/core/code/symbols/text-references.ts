import { AppError } from '@croft/protocol';
import { runRipgrep } from '../../content/search/ripgrep.ts';
import type { ToolContext } from '../../tools/tool.ts';
import type { CodeSymbol } from '../code-symbol.ts';
import { mustHaveSyntax } from './must-have-syntax.ts';
import { fullName } from './symbol-address.ts';

/** One line that mentions a symbol. */
export interface CodeReference {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** Finds the lines that mention a symbol, without its own. A language server can answer it more precisely. */
type ReferenceFinder = (
  location: { readonly path: string; readonly symbol: Pick<CodeSymbol, 'name' | 'startLine' | 'endLine'> },
  context: Pick<ToolContext, 'workspace' | 'signal'>,
) => Promise<readonly CodeReference[]>;

const maxReferences = 1000;
const maxShown = 20;
const maxText = 160;

/** Finds mentions by their text, in files of languages that have a grammar. */
export const findTextReferences: ReferenceFinder = async ({ path, symbol }, { workspace, signal }) => {
  const syntax = mustHaveSyntax(workspace);
  const found: CodeReference[] = [];
  await runRipgrep(workspace, {
    args: [
      '--line-number',
      '--with-filename',
      '--no-heading',
      '--fixed-strings',
      '--word-regexp',
      '--max-columns=2000',
    ].concat(['--max-columns-preview', '--glob=!node_modules/', '--', symbol.name, '.']),
    scope: '',
    record: 'path-and-line',
    signal,
    onRecord(record) {
      const reference = toReference(record);
      const isOwn = reference.path === path && isWithin(reference.line, symbol);
      if (!isOwn && syntax.languageOf(reference.path) !== undefined) found.push(reference);
      return found.length < maxReferences;
    },
  });
  return found.sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
};

/** Refuses to remove a symbol that something else mentions. */
export function stillMentioned(symbol: CodeSymbol, found: readonly CodeReference[]): AppError {
  const rows = found.slice(0, maxShown).map(({ path, line, text }) => `${path}:${line} ${text}`);
  const more = found.length > maxShown ? [`… and ${found.length - maxShown} more`] : [];
  const head = `${fullName(symbol)} is mentioned ${found.length} times elsewhere (by text); pass force: true to delete it anyway`;
  return new AppError('E_IN_USE', [head, ...rows, ...more].join('\n'), { details: { references: found.length } });
}

function isWithin(line: number, { startLine, endLine }: Pick<CodeSymbol, 'startLine' | 'endLine'>): boolean {
  return line >= startLine && line <= endLine;
}

function toReference(record: Buffer): CodeReference {
  const cut = record.indexOf(0);
  const [, line = '0', text = ''] = /^(\d+):(.*)$/s.exec(record.toString('utf8', cut + 1)) ?? [];
  return {
    path: record.toString('utf8', 0, cut).replace(/^\.\//, ''),
    line: Number(line),
    text: text.trim().slice(0, maxText).toWellFormed(),
  };
}
