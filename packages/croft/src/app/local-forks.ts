import { z } from 'zod';
import { createForks, type ForkHost, type HostedFork, type NewHostedFork } from '../core/history/create-forks.ts';
import type { Forks } from '../core/history/forks.ts';
import type { History } from '../core/history/history.ts';
import type { Root } from '../core/history/tree.ts';
import type { WorkingTree } from '../core/history/working-tree.ts';
import type { FollowedBase } from '../history/followed-base.ts';
import { createBases } from '../history/fork-bases.ts';
import type { ForkPlaces, ForkRecord } from '../history/fork-places.ts';
import { writeChanges } from '../history/write-changes.ts';
import { once } from '../lib/once.ts';
import { sha256 } from '../lib/sha256.ts';
import type { Layered } from './layered.ts';

const About = z.object({
  parent: z.string(),
  name: z.string(),
  createdAt: z.string(),
  root: z.string(),
  /** Of the record it has. Left out: it is known by its place. */
  workspaceId: z.string().optional(),
});
export type About = z.output<typeof About>;

/** By what a fork is to be known, and where its files are to be seen. Left out: in a place of its own. */
export interface ForkSite {
  readonly id: string;
  readonly target?: string | undefined;
  readonly workspaceId?: string | undefined;
  /** Nothing came of it. */
  undo?(): Promise<void>;
}

/** Where a workspace's forks come to be workspaces. */
export interface ForkHome {
  /** Throws `E_ALREADY_EXISTS` for a name that is taken. */
  newSite(name: string): Promise<ForkSite>;
  /** There it is. */
  opened(record: ForkRecord, about: About): Promise<void>;
  /** Whoever asks has it. Left out: they have all. */
  has?(about: About): Promise<boolean>;
  openTree(record: ForkRecord, about: About): Promise<WorkingTree>;
  /** Takes it away with all its files. */
  remove(record: ForkRecord, about: About): Promise<void>;
}

export interface ForkedPlace {
  tree(): Promise<WorkingTree>;
  /** An open handle of the workspace. */
  directory(): Promise<number>;
  /** Which workspace it is, on every start of the server. */
  readonly key: string;
  readonly name: string;
  readonly history: History;
  readonly home: ForkHome;
}

/** Opened with the history that they need, on first use. */
export function openForks(layered: Layered, place: ForkedPlace): Forks {
  const open = once(async () => {
    const [tree, handle] = [await place.tree(), await place.directory()];
    const bases = createBases(basesOf(layered, place.key));
    const base = layered.followed.of(place.key, { bases, live: handle, tree });
    const newest = bases.newest()?.path;
    await bases.drop((path) => path === newest || layered.places.isUsed(path));
    return createForks({ tree, history: place.history, host: createHost(layered, place, { tree, base, handle }) });
  });
  return {
    fork: async (wanted) => (await open()).fork(wanted),
    list: async () => (await open()).list(),
    merge: async (wanted) => (await open()).merge(wanted),
    remove: async (name) => (await open()).remove(name),
  };
}

/** Not with the history of the workspace: they outlive it for as long as a fork shows them. */
function basesOf({ data }: Layered, key: string): string {
  return `${data}/bases/${sha256(key).slice(0, 32)}`;
}

/** Of a workspace that is no more. */
export async function dropBases(layered: Layered, key: string): Promise<void> {
  layered.followed.forget(key);
  await createBases(basesOf(layered, key)).drop(layered.places.isUsed, { isOver: true });
}

function createHost(
  layered: Layered,
  place: ForkedPlace,
  { tree, base, handle }: { tree: WorkingTree; base: FollowedBase; handle: number },
): ForkHost {
  const { places } = layered;
  const { home, key } = place;
  const list = createList(places, place);
  const find = ({ workspaceId }: HostedFork) => list().find(({ fork }) => fork.workspaceId === workspaceId) as Known;

  async function create({ name, root, changes, meanwhile, signal }: NewHostedFork): Promise<HostedFork> {
    const { id, target, workspaceId, undo } = await home.newSite(name);
    const about: About = { parent: key, name, createdAt: new Date().toISOString(), root, workspaceId };
    let record: ForkRecord | undefined;
    try {
      record = await places.create({
        ...{ id, target, live: handle, about, meanwhile, signal },
        base: () => base.find(signal),
        finish: (path) => writeChanges(path, changes, tree.store),
      });
      await home.opened(record, about);
      return toFork(record, about, place.name);
    } catch (thrown) {
      if (record) await places.remove(record);
      await undo?.();
      throw thrown;
    }
  }

  return {
    create,
    async list() {
      const known = await Promise.all(
        list().map(async (one) => ((await home.has?.(one.about)) === false ? [] : [one.fork])),
      );
      return known.flat();
    },
    async remove(fork) {
      const { record, about } = find(fork);
      await home.remove(record, about);
    },
    async openTree(fork) {
      const { record, about } = find(fork);
      return home.openTree(record, about);
    },
    async noteMerged(fork, root: Root) {
      const { record, about } = find(fork);
      places.note(record, { ...about, root });
    },
  };
}

interface Known {
  readonly record: ForkRecord;
  readonly about: About;
  readonly fork: HostedFork;
}

/** Of one workspace. Whose a fork is never changes: those of others are looked at once. */
function createList(places: ForkPlaces, { key, name }: Pick<ForkedPlace, 'key' | 'name'>): () => Known[] {
  const others = new Set<string>();
  return () =>
    forksIn(places, others).flatMap(({ record, about }) => {
      if (about.parent === key) return [{ record, about, fork: toFork(record, about, name) }];
      others.add(record.id);
      return [];
    });
}

/** Every fork of this data directory, whosoever, but for these. */
export function forksIn(places: ForkPlaces, but?: ReadonlySet<string>): { record: ForkRecord; about: About }[] {
  return places.list(but).flatMap((record) => {
    const { success, data } = About.safeParse(record.about);
    return success ? [{ record, about: data }] : [];
  });
}

/** The key of what this is a fork of, if it is one. */
export function parentOf({ places }: Pick<Layered, 'places'>, id: string): string | undefined {
  return About.safeParse(places.find(id)?.about).data?.parent;
}

function toFork({ id }: ForkRecord, { name, createdAt, root, workspaceId = id }: About, parent: string): HostedFork {
  return { name, workspaceId, parent, createdAt, root };
}
