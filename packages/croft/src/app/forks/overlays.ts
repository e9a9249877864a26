import { createFollowedBases, type FollowedBases } from '../../history/forks/followed-bases.ts';
import { createForkDirectories, type ForkDirectories } from '../../history/forks/fork-directories.ts';
import { createLayers, type LayerFactory } from '../../history/overlay/layers.ts';
import type { DataDirectoryForks } from '../../storages/index.ts';
import type { WorkspaceHistories } from '../workspaces/workspace-histories.ts';

/** Layers and fork directories that all workspaces of a server share. */
export interface Overlays {
  readonly data: string;
  readonly histories: WorkspaceHistories;
  readonly layers: LayerFactory;
  readonly forkDirectories: ForkDirectories;
  readonly followedBases: FollowedBases;
  /** Resolves when the incomplete layers and forks of earlier servers are removed. */
  readonly swept: Promise<unknown>;
}

export function createOverlays(
  data: string,
  histories: WorkspaceHistories,
  onWarning: (message: string) => void,
): Overlays {
  const layers = createLayers({ parent: `${data}/layers` });
  const forkDirectories = createForkDirectories({ parent: `${data}/forks` });
  const warn = (thrown: unknown) =>
    onWarning(`layers or forks that an earlier server left unfinished cannot be removed: ${thrown}`);
  const swept = Promise.all([layers.sweep().catch(warn), forkDirectories.sweep().catch(warn)]);
  return { data, histories, layers, forkDirectories, followedBases: createFollowedBases(), swept };
}

/** Mounts and removes forks among the workspaces of the data directory, by namespace. */
export function toLocalForks({ forkDirectories }: Pick<Overlays, 'forkDirectories'>): DataDirectoryForks {
  return {
    ensure(namespace) {
      const record = forkDirectories.find(namespace);
      if (record) forkDirectories.ensure(record);
    },
    async remove(namespace) {
      const record = forkDirectories.find(namespace);
      if (record) await forkDirectories.remove(record);
    },
  };
}
