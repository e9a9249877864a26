import { join } from 'node:path';
import type { Emit } from '../core/events.ts';
import { openFilesLazily } from '../core/lazy-files.ts';
import type { ObjectStore } from '../core/objects.ts';
import { once } from '../lib/once.ts';
import { removeTree } from '../lib/remove-tree.ts';
import {
  createDirectGlob,
  createDirectObjects,
  createS3Files,
  type KeptWorkspaces,
  namespaceOf,
} from '../storages/index.ts';
import type { Histories } from './histories.ts';
import { createLocalPlace } from './local-place.ts';
import { createPlaces, type DirectPlace, type Places, type WorkspaceRecord } from './places.ts';
import type { FleetPlaces } from './runners/fleet-places.ts';
import { createRemotePlace } from './runners/remote-place.ts';
import { createS3Place } from './s3-place.ts';

export interface OpenPlacesOptions {
  readonly data: string;
  readonly kept: KeptWorkspaces;
  readonly histories: Histories;
  /** The bucket that a workspace is kept in. Throws for one that cannot be had. */
  openObjects(record: WorkspaceRecord): Promise<ObjectStore>;
  /** For those that are on a runner. */
  readonly remote: Pick<FleetPlaces, 'open'>;
  readonly emit: Emit;
  onWarning(message: string): void;
}

/** Where the workspaces of accounts are, by storage. A new storage is one line here. */
export function openPlaces({ data, kept, histories, openObjects, remote, emit, onWarning }: OpenPlacesOptions): Places {
  return createPlaces({
    storages: {
      runner: (record) => createRemotePlace(record, remote, onWarning),
      local: ({ config: { quota } }, namespace) =>
        createLocalPlace(namespace, { kept, histories, quota, removeHistory: removeTree }),
      s3(record, namespace) {
        const directory = join(data, 'mounts', namespace);
        const { quota, storage } = record.config;
        return createS3Place({
          ...{ namespace, directory, histories, quota, onWarning, access: 'read-write' },
          onOutage: storage.onOutage === 'queue' ? 'queue' : 'refuse',
          openObjects: () => openObjects(record),
          onProgress: (phase, done, total) =>
            emit('lifecycle.workspace.storage', () => ({ workspace: record.id, phase, done, total })),
          removeDirectory: () => removeTree(directory),
        });
      },
    },
    directly: (record, name) =>
      record.config.storage.provider === 's3' && record.config.home === undefined
        ? readDirectly(record, name, openObjects)
        : undefined,
  });
}

function readDirectly(
  record: WorkspaceRecord,
  name: string,
  openObjects: OpenPlacesOptions['openObjects'],
): DirectPlace {
  const root = `/workspaces/${name}`;
  const open = once(async () => {
    const objects = await openObjects(record);
    const namespace = namespaceOf(record.accountId, record.id);
    const direct = createDirectObjects(objects, namespace);
    const files = createS3Files({ objects, namespace, names: [root], direct });
    return { files, listFiles: createDirectGlob({ direct, files }) };
  });
  return {
    root,
    files: openFilesLazily(async () => (await open()).files),
    listFiles: async (search) => (await open()).listFiles(search),
  };
}
