import type { Workspace } from '../../workspace/workspace.ts';
import type { LanguageServers, ServerUse } from '../ports/language-servers.ts';

/** A workspace about which questions are answered, on the machine that has its files. */
export interface QuestionedWorkspace extends Pick<Workspace, 'files' | 'withSearchBox'> {
  /** If there are none: the reason, as the end of "this workspace has no language servers: …". */
  readonly languageServers: LanguageServers | string;
}

/** A question with its workspace and its caller's signal. */
export interface CodeContext extends ServerUse {
  readonly workspace: QuestionedWorkspace;
}
