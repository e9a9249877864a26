import { createChangeFeeds } from '../../core/content/changes/change-feeds.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import type { WorkspaceSet } from '../../core/workspace/workspace-set.ts';
import { newId } from '../../lib/ids.ts';
import type { FlagWorkspace, FlagWorkspaces } from './flag-workspaces.ts';

/** Change feeds open at once, for all holders of the token together. */
const maxFeeds = 100;

/** The workspaces that flags name, as the REST API serves their files. */
export function toFlagWorkspaces(workspaces: WorkspaceSet, maxUploadBytes: number): FlagWorkspaces {
  return {
    pick: (name) => toFlagWorkspace(name === undefined || name === '' ? workspaces.first() : workspaces.pick(name)),
    feeds: createChangeFeeds({ perOwner: maxFeeds, now: () => new Date(), newName: () => newId('ses') }),
    maxUploadBytes,
  };
}

function toFlagWorkspace(workspace: Workspace): FlagWorkspace {
  return { ...workspace, search: workspace };
}
