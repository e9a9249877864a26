import { notFound } from '../../core/accounts/access/registry-errors.ts';
import type { ResourceCollection, WorkspaceConfig } from '../../core/accounts/ports/registry.ts';
import { type ChangeFeeds, createChangeFeeds } from '../../core/content/changes/change-feeds.ts';
import type { FileAccess, FileAccessFinder } from '../../core/content/changes/file-access.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import { newId } from '../../lib/ids.ts';
import type { SearchedDirectory } from '../workspaces/open-search-box.ts';
import type { OpenedWorkspaces, WorkspaceRecord } from '../workspaces/opened-workspaces.ts';

interface WorkspaceFileAccessOptions {
  readonly workspaces: Pick<ResourceCollection<WorkspaceConfig>, 'open'>;
  /** Opens the files of an account's workspace for people, wherever the files are. */
  open(record: WorkspaceRecord): Promise<FileAccess>;
  /** Signs links. It is the same on every server. */
  readonly linkKey: Buffer;
  /** Change feeds that one account has open at once. Default: 50. */
  readonly maxFeeds?: number | undefined;
}

type WorkspaceFileAccess = FileAccessFinder & { readonly feeds: ChangeFeeds; readonly linkKey: Buffer };

/** The files of accounts' workspaces for everyone with a key. A workspace of another account is not found. */
export function createWorkspaceFileAccess({
  workspaces,
  open,
  linkKey,
  maxFeeds = 50,
}: WorkspaceFileAccessOptions): WorkspaceFileAccess {
  return {
    linkKey,
    feeds: createChangeFeeds({ perOwner: maxFeeds, now: () => new Date(), newName: () => newId('ses') }),
    async of(accountId, workspaceId) {
      const record = await workspaces.open(accountId, workspaceId);
      if (!record) throw notFound('Workspace');
      return open(record);
    },
  };
}

type OpenSearch = (directory: SearchedDirectory, root: string) => Workspace['withSearchBox'];

/** Opens the files of a workspace, in any storage. */
export function openFileAccess(
  record: WorkspaceRecord,
  openedWorkspaces: OpenedWorkspaces,
  openSearch: OpenSearch,
): FileAccess {
  const workspace = openedWorkspaces.of(record);
  // No agent uses the id as a name, so only paths from the root are valid.
  const { files, root } = workspace.named(record.id);
  const { wrapCall, watch, withSearchBox = openSearch(workspace, root) } = workspace;
  return { files, wrapCall, watch, search: { root, withSearchBox }, access: 'read-write' };
}
