import type { CodeQuestions } from '../../core/code/ports/code-questions.ts';
import { createCodeQuestions } from '../../core/code/questions/create-code-questions.ts';
import type { RunnerWorkspace } from '../../core/runner-workspaces/runner-workspace.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import type { LanguageServersOfWorkspaces, ServersAccount } from './language-servers-of-workspaces.ts';
import type { SearchedDirectory } from './open-search-box.ts';

/** The runner that has the files of a workspace searches them, and answers questions about their code. */
export type SearchedByRunner = Pick<RunnerWorkspace, 'withSearchBox' | 'code' | 'codeIndex'>;

interface CodeWorkspace extends Pick<Workspace, 'name' | 'root' | 'files' | 'withSearchBox' | 'isFleeting'> {
  readonly key: string;
  readonly account?: ServersAccount | undefined;
}

const olderRunner = 'its runner has an older release, which has none: update it';

/** Returns who answers questions about the code of a workspace: this machine, or the runner that has the files. */
export function openCodeQuestions(
  workspace: CodeWorkspace,
  search: SearchedDirectory | SearchedByRunner,
  codeServers: LanguageServersOfWorkspaces,
): CodeQuestions {
  const { files, withSearchBox, isFleeting } = workspace;
  const without = (languageServers: string) => createCodeQuestions({ files, withSearchBox, languageServers });
  const { serverMode } = codeServers;
  if (serverMode === undefined) return without(codeServers.whyNone);
  if ('withSearchBox' in search) return search.code?.(serverMode) ?? without(olderRunner);
  // A sandbox without a workspace is gone before a server is ready.
  if (isFleeting) return without('its files are gone after each call');
  const languageServers = codeServers.of({ ...workspace, ...search }, serverMode);
  return createCodeQuestions({ files, withSearchBox, languageServers });
}
