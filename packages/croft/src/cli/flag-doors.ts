import { createChangeFeeds } from '../core/content/change-feeds.ts';
import type { WorkspaceSet } from '../core/workspace-set.ts';
import { newId } from '../lib/ids.ts';
import type { FlagDoors } from '../rest/api/flag-doors.ts';

/** Open at once, of all who have the token. */
const maxFeeds = 100;

/** The workspaces given by flags, as the REST face serves their files. */
export function toFlagDoors(workspaces: WorkspaceSet, maxUploadBytes: number): FlagDoors {
  return {
    pick: (name) => (name === undefined || name === '' ? workspaces.first() : workspaces.pick(name)),
    feeds: createChangeFeeds({ perOwner: maxFeeds, now: () => new Date(), newName: () => newId('ses') }),
    maxUploadBytes,
  };
}
