import type { CodeIndex } from '../../core/code/ports/code-index.ts';
import type { Syntax } from '../../core/code/syntax.ts';
import { wrapWithHistory } from '../../core/history/checkpoints/wrap-with-history.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import type { WorkspaceIndexes } from './code-indexes-of-workspaces.ts';
import { type CheckOptions, createChecks } from './create-checks.ts';
import type { LanguageServersOfWorkspaces, ServersAccount } from './language-servers-of-workspaces.ts';
import { openCodeQuestions, type SearchedByRunner } from './open-code-questions.ts';
import { openSearchBox, type SearchedDirectory } from './open-search-box.ts';
import type { SearchBoxPool } from './search-box-pool.ts';

/** The parts of a workspace, wherever its files are. */
export interface WorkspaceParts extends Omit<Workspace, 'withSearchBox' | 'checks' | 'syntax' | 'codeIndex' | 'code'> {
  /** Identifies the workspace, the same on every start of the server. Results of checks are stored under it. */
  readonly key: string;
  /** The directory on this machine, or the runner that has the files. */
  readonly search: SearchedDirectory | SearchedByRunner;
  /** Absent: the workspace is the operator's. */
  readonly account?: ServersAccount | undefined;
}

export interface AssembleWorkspaceOptions extends CheckOptions {
  readonly searches: SearchBoxPool;
  /** Absent: code is not parsed. */
  readonly syntax: Syntax | undefined;
  readonly codeServers: LanguageServersOfWorkspaces;
  readonly codeIndexes: WorkspaceIndexes;
}

/**
 * Assembles every `Workspace` of this program. Adds the search box, the checks, the parser and the language servers. A
 * workspace with a history and without a wrapper of its own records its calls in the history.
 */
export function assembleWorkspace(
  { key, search, account, ...parts }: WorkspaceParts,
  { searches, syntax, codeServers, codeIndexes, ...checkOptions }: AssembleWorkspaceOptions,
): Workspace {
  const { name, root, files, history } = parts;
  const withSearchBox = 'withSearchBox' in search ? search.withSearchBox : openSearchBox(search, root, searches);
  return {
    ...parts,
    wrapCall: parts.wrapCall ?? (history && wrapWithHistory(history)),
    withSearchBox,
    checks: createChecks({ name, key, files }, checkOptions),
    syntax,
    codeIndex: syntax && findIndex(),
    code: openCodeQuestions({ ...parts, key, account, withSearchBox }, search, codeServers),
  };

  /** The index is where the files are. Files that are read without a mount are read anew for each search. */
  function findIndex(): CodeIndex | undefined {
    if ('withSearchBox' in search) return search.codeIndex;
    if (parts.isFleeting || parts.listFiles) return undefined;
    return codeIndexes.of({ key, files, withSearchBox, ...search });
  }
}
