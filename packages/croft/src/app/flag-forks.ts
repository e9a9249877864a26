import type { Durability } from '../core/durability.ts';
import type { Forks } from '../core/history/forks.ts';
import type { History } from '../core/history/history.ts';
import type { Workspace } from '../core/workspace.ts';
import type { WorkspaceSet } from '../core/workspace-set.ts';
import type { ForkRecord } from '../history/fork-places.ts';
import { newName } from '../lib/ids.ts';
import { sha256 } from '../lib/sha256.ts';
import { realpathOf } from '../lib/workspace-owner.ts';
import { closeMount, type NamedMount, openMounts } from '../storages/index.ts';
import type { Layered } from './layered.ts';
import { type About, type ForkHome, forksIn, openForks } from './local-forks.ts';
import { createTrackedSandboxes } from './tracked-sandboxes.ts';

export interface FlagForksOptions {
  readonly layered: Layered;
  /** The workspaces that forks are added to. */
  set(): WorkspaceSet;
  /** Such a workspace as those given by flags. */
  open(mount: NamedMount): Workspace;
  /** Without a fence there is no other name for a directory than its own. */
  readonly isFenced: boolean;
  /** Of their files. Left out: strict. */
  readonly durability?: Durability | undefined;
  onWarning(message: string): void;
}

export type FlagForks = ReturnType<typeof createFlagForks>;

/** Forks of workspaces that were given by flags: workspaces beside them, below the data directory. */
export function createFlagForks(options: FlagForksOptions) {
  const { layered, set, open, isFenced, durability, onWarning } = options;
  const { places, histories } = layered;
  const mounts = new Map<string, NamedMount>();
  const sandboxes = createTrackedSandboxes();

  /** It has an id of its own: what was agreed to for the other holds nothing here. */
  function join(record: ForkRecord, { name }: About): void {
    const shown = isFenced ? { root: `/workspaces/${name}` } : {};
    const [mount] = openMounts([{ name, path: record.target, ...shown }], durability);
    if (!mount) return;
    mounts.set(record.id, mount);
    set().add(sandboxes.track({ ...open(mount), id: record.id }));
  }

  async function remove(record: ForkRecord, { name }: About): Promise<void> {
    set().drop(name);
    // Before its files: what still runs there would go on in them, and put some back.
    await sandboxes.end(record.id);
    const mount = mounts.get(record.id);
    mounts.delete(record.id);
    if (mount) {
      await histories.forget(mount.handle);
      closeMount(mount);
    }
    await places.remove(record);
  }

  const home: ForkHome = {
    async newSite(name) {
      set().mustBeFree(name);
      return { id: newName('fork') };
    },
    opened: async (record, about) => join(record, about),
    openTree: ({ id }) => histories.treeOf((mounts.get(id) as NamedMount).handle),
    remove,
  };

  return {
    of: (workspace: Pick<NamedMount, 'name' | 'handle'>, history: History): Forks =>
      openForks(layered, {
        ...{ key: keyOf(workspace.handle), name: workspace.name, history, home },
        tree: () => histories.treeOf(workspace.handle),
        directory: async () => workspace.handle,
      }),

    /** Those that earlier servers made, and forks of them. */
    bringBack(parents: readonly Pick<NamedMount, 'handle'>[]): void {
      const keys = parents.map(({ handle }) => keyOf(handle));
      const found = forksIn(places).filter(
        ({ record, about }) => keys.includes(about.parent) && !mounts.has(record.id),
      );
      for (const { record, about } of found) {
        try {
          places.ensure(record);
          join(record, about);
        } catch (thrown) {
          onWarning(`the fork ${about.name} cannot be opened: ${thrown}`);
        }
      }
      const brought = found.flatMap(({ record }) => mounts.get(record.id) ?? []);
      if (brought.length > 0) this.bringBack(brought);
    },

    /** After everything that has them open. */
    async close(): Promise<void> {
      mounts.forEach(closeMount);
      mounts.clear();
      await places.release();
    },
  };
}

function keyOf(handle: number): string {
  return sha256(Buffer.from(realpathOf(handle))).slice(0, 32);
}
