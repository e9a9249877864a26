import type { Syntax } from '../../core/code/syntax.ts';
import { wrapWithHistory } from '../../core/history/checkpoints/wrap-with-history.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import type { WorkspaceIndexes } from './code-indexes.ts';
import type { CodeServers, ServersAccount } from './code-servers.ts';
import { type CheckOptions, createChecks } from './create-checks.ts';
import { openSearchBox, type SearchedDirectory } from './open-search-box.ts';
import type { SearchBoxPool } from './search-box-pool.ts';

/** The parts of a workspace, wherever its files are. */
export interface WorkspaceParts
  extends Omit<Workspace, 'withSearchBox' | 'checks' | 'syntax' | 'codeIndex' | 'languageServers'> {
  /** Identifies the workspace, the same on every start of the server. Results of checks are stored under it. */
  readonly key: string;
  /** The directory on this machine, or the search box of the runner that has the files. */
  readonly search: SearchedDirectory | Pick<Workspace, 'withSearchBox'>;
  /** Absent: the workspace is the operator's. */
  readonly account?: ServersAccount | undefined;
}

export interface AssembleWorkspaceOptions extends CheckOptions {
  readonly searches: SearchBoxPool;
  /** Absent: code is not parsed. */
  readonly syntax: Syntax | undefined;
  readonly codeServers: CodeServers;
  readonly codeIndexes: WorkspaceIndexes;
}

/**
 * Assembles every `Workspace` of this program. Adds the search box, the checks, the parser and the language servers. A workspace with a history and
 * without a wrapper of its own records its calls in the history.
 */
export function assembleWorkspace(
  { key, search, account, ...parts }: WorkspaceParts,
  { searches, syntax, codeServers, codeIndexes, ...checkOptions }: AssembleWorkspaceOptions,
): Workspace {
  const { name, root, files, history } = parts;
  const withSearchBox = 'withSearchBox' in search ? search.withSearchBox : openSearchBox(search, root, searches);
  // Files that are read without a mount are read anew for each search.
  const isIndexed = !('withSearchBox' in search) && !parts.isFleeting && !parts.listFiles;
  return {
    ...parts,
    wrapCall: parts.wrapCall ?? (history && wrapWithHistory(history)),
    withSearchBox,
    checks: createChecks({ name, key, files }, checkOptions),
    syntax,
    codeIndex: isIndexed ? codeIndexes.of({ key, files, withSearchBox, ...search }) : undefined,
    // Runners do not start language servers yet, and a workspace of a single call is gone before one is ready.
    languageServers:
      'withSearchBox' in search || parts.isFleeting
        ? undefined
        : codeServers.of({ name, root, key, files, account, ...search }),
  };
}
