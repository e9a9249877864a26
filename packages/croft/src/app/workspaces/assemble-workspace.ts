import type { Syntax } from '../../core/code/syntax.ts';
import type { SearchBox } from '../../core/content/search/search-box.ts';
import { wrapWithHistory } from '../../core/history/checkpoints/wrap-with-history.ts';
import type { WorkingTree } from '../../core/history/ports/working-tree.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import type { CodeServers } from './code-servers.ts';
import { type CheckOptions, createChecks } from './create-checks.ts';
import type { SearchBoxPool } from './search-box-pool.ts';

/** The directory that the search box and language servers show. */
export interface SearchedDirectory {
  /** An open file descriptor of the directory. The directory may have to be filled first. */
  directoryFd(): number | Promise<number>;
  /** Throws `E_WORKSPACE_GONE`. */
  mustBeThere(): void;
  /** The tree of its history, which knows what changed. Absent: the directory has no history. */
  tree?(): Promise<Pick<WorkingTree, 'touchedSince'>>;
}

/** The parts of a workspace, wherever its files are. */
export interface WorkspaceParts extends Omit<Workspace, 'withSearchBox' | 'checks' | 'syntax' | 'languageServers'> {
  /** Identifies the workspace, the same on every start of the server. Results of checks are stored under it. */
  readonly key: string;
  /** The directory on this machine, or the search box of the runner that has the files. */
  readonly search: SearchedDirectory | Pick<Workspace, 'withSearchBox'>;
}

export interface AssembleWorkspaceOptions extends CheckOptions {
  readonly searches: SearchBoxPool;
  readonly syntax: Syntax;
  readonly codeServers: CodeServers;
}

/**
 * Assembles every `Workspace` of this program. Adds the search box, the checks, the parser and the language servers. A workspace with a history and
 * without a wrapper of its own records its calls in the history.
 */
export function assembleWorkspace(
  { key, search, ...parts }: WorkspaceParts,
  { searches, syntax, codeServers, ...checkOptions }: AssembleWorkspaceOptions,
): Workspace {
  const { name, root, files, history } = parts;
  return {
    ...parts,
    wrapCall: parts.wrapCall ?? (history && wrapWithHistory(history)),
    withSearchBox: 'withSearchBox' in search ? search.withSearchBox : openSearchBox(search, root, searches),
    checks: createChecks({ name, key, files }, checkOptions),
    syntax,
    // Runners do not start language servers yet, and a workspace of a single call is gone before one is ready.
    languageServers:
      'withSearchBox' in search || parts.isFleeting ? undefined : codeServers.of({ name, root, key, files, ...search }),
  };
}

/** Returns the method `withSearchBox` of a workspace whose directory is on this machine. */
export function openSearchBox(
  { directoryFd, mustBeThere }: SearchedDirectory,
  workspacePath: string,
  searches: SearchBoxPool,
): Workspace['withSearchBox'] {
  return async <T>(work: (box: SearchBox) => Promise<T>): Promise<T> =>
    searches.openIn({ directoryFd: await directoryFd(), workspacePath }, mustBeThere)(work);
}
