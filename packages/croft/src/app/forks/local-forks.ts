import { z } from 'zod';
import {
  createForks,
  type ForkHost,
  type HostedFork,
  type NewHostedFork,
} from '../../core/history/forks/create-forks.ts';
import type { Forks } from '../../core/history/ports/forks.ts';
import type { History } from '../../core/history/ports/history.ts';
import type { TreeHash } from '../../core/history/ports/tree.ts';
import type { WorkingTree } from '../../core/history/ports/working-tree.ts';
import { writeChanges } from '../../history/files/write-changes.ts';
import type { FollowedBase } from '../../history/forks/followed-base.ts';
import { createForkBases } from '../../history/forks/fork-bases.ts';
import type { ForkDirectories, ForkRecord } from '../../history/forks/fork-directories.ts';
import { once } from '../../lib/concurrency/once.ts';
import { sha256 } from '../../lib/crypto/sha256.ts';
import type { Overlays } from './overlays.ts';

const About = z.object({
  parent: z.string(),
  name: z.string(),
  createdAt: z.string(),
  root: z.string(),
  /** The id of the fork's workspace record. Without it, the fork is identified by its directory. */
  workspaceId: z.string().optional(),
});
export type About = z.output<typeof About>;

/** The id of a new fork, and where its files appear. Without `target`, the fork gets a directory of its own. */
interface NewForkDirectory {
  readonly id: string;
  readonly target?: string | undefined;
  readonly workspaceId?: string | undefined;
  /** Removes the fork's record after the fork could not be made. */
  undo?(): Promise<void>;
}

/** Registers forks of a workspace as workspaces: of an account, of a runner, or beside those that flags name. */
export interface ForkRegistrar {
  /** Throws `E_ALREADY_EXISTS` for a name that is taken. */
  reserve(name: string): Promise<NewForkDirectory>;
  /** Called when the fork's files are complete. */
  onCreated(record: ForkRecord, about: About): Promise<void>;
  /** Whether the caller may see the fork. Without this method, every caller may see every fork. */
  isVisible?(about: About): Promise<boolean>;
  openTree(record: ForkRecord, about: About): Promise<WorkingTree>;
  /** Removes the fork and all its files. */
  remove(record: ForkRecord, about: About): Promise<void>;
}

interface ForkedWorkspace {
  tree(): Promise<WorkingTree>;
  /** An open file descriptor of the workspace's directory. */
  directoryFd(): Promise<number>;
  /** Identifies the workspace. It stays the same across restarts of the server. */
  readonly key: string;
  readonly name: string;
  readonly history: History;
  readonly registrar: ForkRegistrar;
}

/** Opens forks and the history they need on first use. */
export function openLocalForks(layered: Overlays, workspace: ForkedWorkspace): Forks {
  const open = once(async () => {
    const [tree, handle] = [await workspace.tree(), await workspace.directoryFd()];
    const bases = createForkBases(basesDirectory(layered, workspace.key));
    const base = layered.followedBases.of(workspace.key, { bases, workspaceFd: handle, tree });
    const newest = bases.newest()?.path;
    await bases.drop((path) => path === newest || layered.forkDirectories.isUsed(path));
    return createForks({
      tree,
      history: workspace.history,
      host: createForkHost(layered, workspace, { tree, base, handle }),
    });
  });
  return {
    fork: async (wanted) => (await open()).fork(wanted),
    list: async () => (await open()).list(),
    merge: async (wanted) => (await open()).merge(wanted),
    remove: async (name) => (await open()).remove(name),
  };
}

/**
 * The directory of a workspace's fork bases. It is outside the history, because bases live as long as a fork uses them.
 */
export function basesDirectory({ data }: Pick<Overlays, 'data'>, key: string): string {
  return `${data}/bases/${sha256(key).slice(0, 32)}`;
}

/** Removes the unused bases of a workspace that was removed. */
export async function removeUnusedBases(layered: Overlays, key: string): Promise<void> {
  layered.followedBases.forget(key);
  await createForkBases(basesDirectory(layered, key)).drop(layered.forkDirectories.isUsed, { isOver: true });
}

function createForkHost(
  layered: Overlays,
  workspace: ForkedWorkspace,
  { tree, base, handle }: { tree: WorkingTree; base: FollowedBase; handle: number },
): ForkHost {
  const { forkDirectories } = layered;
  const { registrar, key } = workspace;
  const list = createList(forkDirectories, workspace);
  const find = ({ workspaceId }: HostedFork) =>
    list().find(({ fork }) => fork.workspaceId === workspaceId) as KnownFork;

  async function create({ name, root, changes, meanwhile, signal }: NewHostedFork): Promise<HostedFork> {
    const { id, target, workspaceId, undo } = await registrar.reserve(name);
    const about: About = { parent: key, name, createdAt: new Date().toISOString(), root, workspaceId };
    let record: ForkRecord | undefined;
    try {
      record = await forkDirectories.create({
        ...{ id, target, workspaceFd: handle, about, meanwhile, signal },
        base: () => base.find(signal),
        finish: (path) => writeChanges(path, changes, tree.store),
      });
      await registrar.onCreated(record, about);
      return toFork(record, about, workspace.name);
    } catch (thrown) {
      if (record) await forkDirectories.remove(record);
      await undo?.();
      throw thrown;
    }
  }

  return {
    create,
    async list() {
      const known = await Promise.all(
        list().map(async (one) => ((await registrar.isVisible?.(one.about)) === false ? [] : [one.fork])),
      );
      return known.flat();
    },
    async remove(fork) {
      const { record, about } = find(fork);
      await registrar.remove(record, about);
    },
    async openTree(fork) {
      const { record, about } = find(fork);
      return registrar.openTree(record, about);
    },
    async noteMerged(fork, root: TreeHash) {
      const { record, about } = find(fork);
      forkDirectories.note(record, { ...about, root });
    },
  };
}

interface KnownFork {
  readonly record: ForkRecord;
  readonly about: About;
  readonly fork: HostedFork;
}

/**
 * Lists the forks of one workspace. A fork never changes its parent, so the forks of other workspaces are read only
 * once.
 */
function createList(
  forkDirectories: ForkDirectories,
  { key, name }: Pick<ForkedWorkspace, 'key' | 'name'>,
): () => KnownFork[] {
  const others = new Set<string>();
  return () =>
    forksIn(forkDirectories, others).flatMap(({ record, about }) => {
      if (about.parent === key) return [{ record, about, fork: toFork(record, about, name) }];
      others.add(record.id);
      return [];
    });
}

/** Every fork in this data directory, of any workspace, except those in `but`. */
export function forksIn(
  forkDirectories: ForkDirectories,
  but?: ReadonlySet<string>,
): { record: ForkRecord; about: About }[] {
  return forkDirectories.list(but).flatMap((record) => {
    const { success, data } = About.safeParse(record.about);
    return success ? [{ record, about: data }] : [];
  });
}

/** The key of a fork's parent. Nothing if `id` is not a fork. */
export function parentKeyOf({ forkDirectories }: Pick<Overlays, 'forkDirectories'>, id: string): string | undefined {
  return About.safeParse(forkDirectories.find(id)?.about).data?.parent;
}

function toFork({ id }: ForkRecord, { name, createdAt, root, workspaceId = id }: About, parent: string): HostedFork {
  return { name, workspaceId, parent, createdAt, root };
}
