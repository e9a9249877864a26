import type { Workspace } from '../../workspace/workspace.ts';
import { compileGlobFrom } from './compile-glob-from.ts';
import { collectMatches, contentArguments } from './grep-output.ts';
import { runRipgrep } from './ripgrep.ts';
import { showFarMatches } from './show-long-lines.ts';

interface ContentSearch {
  readonly pattern: string;
  readonly isLiteral: boolean;
  readonly ignoresCase: boolean;
  /** Directory or file to search, from the root; empty for all. */
  readonly path: string;
  readonly glob?: string | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
}

type Searched = Pick<Workspace, 'root' | 'files' | 'withSearchBox'>;

/** Searches the contents of files for a person, by the rules of the tool `grep`. */
export async function searchContentsForRest(workspace: Searched, search: ContentSearch) {
  const { pattern, isLiteral, ignoresCase, path, glob, limit, signal } = search;
  const { path: scope } = await workspace.files.stat(path);
  const isWanted = glob ? compileGlobFrom({ root: workspace.root, scope }, glob, 'glob') : () => true;
  const found = collectMatches({ mode: 'content', limit, isWanted });
  const args = [
    ...contentArguments,
    ...(isLiteral ? ['--fixed-strings'] : []),
    ...(ignoresCase ? ['--ignore-case'] : []),
    ...(scope.includes('node_modules') ? [] : ['--glob=!node_modules/']),
    ...['--', pattern],
    ...(scope === '' ? ['.'] : []),
  ];
  await runRipgrep(workspace, { args, scope, record: found.record, signal, onRecord: found.add });
  await showFarMatches(workspace.files, found.far(), signal);
  const matches = found.sorted().map(({ path: own, line = 0, text = '' }) => ({ path: own, line, text }));
  return { matches, isCut: found.isFull() };
}
