import type { Forks } from '../../core/history/ports/forks.ts';
import type { History } from '../../core/history/ports/history.ts';
import type { Durability } from '../../core/storage/durability.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import type { WorkspaceSet } from '../../core/workspace/workspace-set.ts';
import type { ForkRecord } from '../../history/forks/fork-directories.ts';
import { sha256 } from '../../lib/crypto/sha256.ts';
import { realpathOf } from '../../lib/files/workspace-owner.ts';
import { newRandomName } from '../../lib/ids.ts';
import { closeMount, type NamedMount, openMounts } from '../../storages/index.ts';
import type { WorkspaceIndexes } from '../workspaces/code-indexes-of-workspaces.ts';
import { type About, type ForkRegistrar, forksIn, openLocalForks } from './local-forks.ts';
import type { Overlays } from './overlays.ts';
import { createTrackedSandboxes } from './tracked-sandboxes.ts';

interface FlagForksOptions {
  readonly layered: Overlays;
  /** The workspace set that forks are added to. */
  set(): WorkspaceSet;
  /** Opens a fork like the workspaces that flags name. */
  open(mount: NamedMount): Workspace;
  /** Indexes of the code in the forks. Absent: there are none. */
  readonly codeIndexes?: Pick<WorkspaceIndexes, 'remove'> | undefined;
  /** Whether commands are isolated. Without isolation, they see a directory only under its real path. */
  readonly isSandboxed: boolean;
  /** Durability of the forks' files. Default: strict. */
  readonly durability?: Durability | undefined;
  /** Control files that agents may change in forks. Default: none. */
  readonly allowControl?: readonly string[] | undefined;
  onWarning(message: string): void;
}

export type FlagWorkspaceForks = ReturnType<typeof createFlagWorkspaceForks>;

/** Forks of workspaces that flags name. Each fork is one more workspace, stored in the data directory. */
export function createFlagWorkspaceForks(options: FlagForksOptions) {
  const { layered, set, open, isSandboxed, durability, allowControl, codeIndexes, onWarning } = options;
  const { forkDirectories, histories } = layered;
  const mounts = new Map<string, NamedMount>();
  const sandboxes = createTrackedSandboxes();

  /** Adds a fork to the workspace set. It gets an id of its own, so approvals for its parent do not apply to it. */
  function join(record: ForkRecord, { name }: About): void {
    const shown = isSandboxed ? { root: `/workspaces/${name}` } : {};
    const [mount] = openMounts([{ name, path: record.target, ...shown }], { durability, allowControl });
    if (!mount) return;
    mounts.set(record.id, mount);
    set().add(sandboxes.track({ ...open(mount), id: record.id }));
  }

  async function remove(record: ForkRecord, { name }: About): Promise<void> {
    set().drop(name);
    // Sandboxes end before the files are removed: a running command would write some files again.
    await sandboxes.end(record.id);
    const mount = mounts.get(record.id);
    mounts.delete(record.id);
    if (mount) {
      await codeIndexes?.remove(realpathOf(mount.handle));
      await histories.forget(mount.handle);
      closeMount(mount);
    }
    await forkDirectories.remove(record);
  }

  const registrar: ForkRegistrar = {
    async reserve(name) {
      set().mustBeFree(name);
      return { id: newRandomName('fork') };
    },
    onCreated: async (record, about) => join(record, about),
    openTree: ({ id }) => histories.treeOf((mounts.get(id) as NamedMount).handle),
    remove,
  };

  return {
    of: (workspace: Pick<NamedMount, 'name' | 'handle'>, history: History): Forks =>
      openLocalForks(layered, {
        ...{ key: keyOf(workspace.handle), name: workspace.name, history, registrar },
        tree: () => histories.treeOf(workspace.handle),
        directoryFd: async () => workspace.handle,
      }),

    /** Reopens forks that earlier servers made, and the forks of those forks. */
    reopenEarlier(parents: readonly Pick<NamedMount, 'handle'>[]): void {
      const keys = parents.map(({ handle }) => keyOf(handle));
      const found = forksIn(forkDirectories).filter(
        ({ record, about }) => keys.includes(about.parent) && !mounts.has(record.id),
      );
      for (const { record, about } of found) {
        try {
          forkDirectories.ensure(record);
          join(record, about);
        } catch (thrown) {
          onWarning(`the fork ${about.name} cannot be opened: ${thrown}`);
        }
      }
      const brought = found.flatMap(({ record }) => mounts.get(record.id) ?? []);
      if (brought.length > 0) this.reopenEarlier(brought);
    },

    /** Call it after everything that has the forks open is closed. */
    async close(): Promise<void> {
      mounts.forEach(closeMount);
      mounts.clear();
      await forkDirectories.release();
    },
  };
}

function keyOf(handle: number): string {
  return sha256(Buffer.from(realpathOf(handle))).slice(0, 32);
}
