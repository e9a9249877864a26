import type { ChangeFeeds } from '../../core/content/changes/change-feeds.ts';
import type { FileAccess } from '../../core/content/changes/file-access.ts';
import type { PermissionMode } from '../../core/workspace/permission.ts';

/** A workspace that the operator named by a flag. */
export interface FlagWorkspace extends FileAccess {
  readonly name: string;
  /** The path of the workspace as the model sees it. */
  readonly root: string;
  /** Decides which calls need an approval. */
  readonly permission: PermissionMode;
}

export interface FlagWorkspaces {
  /** Without a name, picks the first workspace. Throws `E_UNKNOWN_WORKSPACE`. */
  pick(name: string | undefined): FlagWorkspace;
  readonly feeds: ChangeFeeds;
  readonly maxUploadBytes: number;
}
