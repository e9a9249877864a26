import { AppError } from '@croft/protocol';
import type { ResourceView, WorkspaceConfig } from '../core/accounts/registry.ts';
import type { FileDoor } from '../core/content/file-door.ts';
import type { Files } from '../core/files.ts';
import type { History } from '../core/history/history.ts';
import type { WorkingTree } from '../core/history/working-tree.ts';
import type { Mount } from '../core/mount.ts';
import type { Workspace } from '../core/workspace.ts';
import { namespaceOf } from '../storages/index.ts';

export type WorkspaceRecord = ResourceView<WorkspaceConfig>;

/** A workspace of an account as this server has it: for every agent of it, and for people. */
export interface Place {
  /** Which it is, on every start of the server. */
  readonly key: string;
  /** For whoever calls it so. */
  named(name: string): Pick<Mount, 'root' | 'files'>;
  /** Its directory, which may have to be filled first. */
  directory(): Promise<number>;
  /** Throws `E_WORKSPACE_GONE`. */
  mustBeThere(): void;
  tree(): Promise<WorkingTree>;
  readonly history: History | undefined;
  readonly around: NonNullable<Workspace['around']>;
  readonly watch: NonNullable<FileDoor['watch']>;
  /** Lets go of everything, and takes it away from this machine if it is kept nowhere else or not at all any more. */
  close(options: { readonly isRemoved: boolean }): Promise<void>;
}

/** The files of a workspace where no mount is made of it: as they are kept, and read-only. */
export interface DirectPlace {
  readonly root: string;
  readonly files: Files;
  readonly listFiles: NonNullable<Workspace['listFiles']>;
}

export interface PlacesOptions {
  /** How the places of each storage are made. Nothing is opened before it is used. */
  readonly storages: Readonly<Record<string, (record: WorkspaceRecord, namespace: string) => Place>>;
  /** Nothing where a mount is as direct as can be. */
  directly(record: WorkspaceRecord, name: string): DirectPlace | undefined;
}

interface Known {
  readonly place: Place;
  readonly accountId: string;
  readonly storage: string;
  readonly isRemote: boolean;
}

export type Places = ReturnType<typeof createPlaces>;

/** Each workspace is opened once, whoever asks: what one changes the others see. */
export function createPlaces({ storages, directly }: PlacesOptions) {
  const places = new Map<string, Known>();

  return {
    directly,
    of(record: WorkspaceRecord): Place {
      const namespace = namespaceOf(record.accountId, record.id);
      const { storage, quota, home } = record.config;
      const setting = JSON.stringify([storage, quota, home]);
      const known = places.get(namespace);
      if (known?.storage === setting) return known.place;
      // What it was opened with counts no more.
      if (known) void known.place.close({ isRemoved: false }).catch(() => {});
      const kind = home === undefined ? storage.provider : 'runner';
      const make = Object.hasOwn(storages, kind) ? storages[kind] : undefined;
      if (!make) throw new AppError('E_STORAGE_FAILED', `this server cannot open what is kept in ${storage.provider}`);
      const place = make(record, namespace);
      const { accountId } = record;
      places.set(namespace, { place, accountId, storage: setting, isRemote: kind === 's3' });
      return place;
    },
    /** What they were opened with may be other by now: each is opened anew when it is next needed. */
    async reopen(accountId: string): Promise<void> {
      const those = [...places.values()].filter((known) => known.accountId === accountId && known.isRemote);
      await Promise.all(those.map(({ place }) => place.close({ isRemoved: false })));
    },
    async remove(namespace: string): Promise<void> {
      const known = places.get(namespace);
      places.delete(namespace);
      await known?.place.close({ isRemoved: true });
    },
    async close(): Promise<void> {
      const all = [...places.values()];
      places.clear();
      await Promise.all(all.map(({ place }) => place.close({ isRemoved: false })));
    },
  };
}
