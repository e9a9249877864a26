import { notFound } from '../core/accounts/refusals.ts';
import type { Collection, WorkspaceConfig } from '../core/accounts/registry.ts';
import { type ChangeFeeds, createChangeFeeds } from '../core/content/change-feeds.ts';
import type { FileDoor, FileDoors } from '../core/content/file-door.ts';
import { newId } from '../lib/ids.ts';
import type { AccountRoom } from './account-room.ts';
import type { Places, WorkspaceRecord } from './places.ts';

export interface WorkspaceDoorsOptions {
  readonly workspaces: Pick<Collection<WorkspaceConfig>, 'open'>;
  /** How a workspace of an account is opened for people, wherever its files are. */
  open(record: WorkspaceRecord): Promise<FileDoor>;
  /** Signs links, the same on every server. */
  readonly linkKey: Buffer;
}

/** Open at once, of one account on this server. */
const feedsPerAccount = 50;

export type WorkspaceDoors = FileDoors & { readonly feeds: ChangeFeeds; readonly linkKey: Buffer };

/** The files of accounts' workspaces for whoever has a key. What is not the account's own is not there. */
export function createWorkspaceDoors({ workspaces, open, linkKey }: WorkspaceDoorsOptions): WorkspaceDoors {
  return {
    linkKey,
    feeds: createChangeFeeds({ perOwner: feedsPerAccount, now: () => new Date(), newName: () => newId('ses') }),
    async of(accountId, workspaceId) {
      const record = await workspaces.open(accountId, workspaceId);
      if (!record) throw notFound('Workspace');
      return open(record);
    },
  };
}

/** The door of a workspace, wherever it is kept. */
export function openDoor(
  record: WorkspaceRecord,
  { places, room }: { places: Places; room: Pick<AccountRoom, 'checkStorage'> },
): FileDoor {
  const place = places.of(record);
  // A name that no agent's has, so that no path but one from the root means anything.
  const { files } = place.named(record.id);
  const { around, watch } = place;
  return {
    ...{ files, around, watch, access: 'read-write' },
    checkRoom: (bytes) => room.checkStorage(record.accountId, bytes),
  };
}
