import { existsSync, fstatSync, mkdirSync, readdirSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { bringUp } from './bring-up.ts';
import { copyTree, keepTraits } from './copy-tree.ts';
import type { BaseState } from './followed-base.ts';
import { ensureMounted, mountFork, removePlace, seedFork } from './fork-mount.ts';
import { type ForkRecord, readMaker, readRecord, writeMaker, writeRecord } from './fork-records.ts';
import { canMount, mustReach, prepareParent } from './layers.ts';
import { unmountIfUnused } from './mounting.ts';

export type { ForkRecord } from './fork-records.ts';

export interface ForkPlacesOptions {
  /** Of the data directory. */
  readonly parent: string;
  readonly kinds?: readonly ForkRecord['kind'][] | undefined;
}

export interface NewFork {
  readonly id: string;
  /** Where it is to be seen. Left out: in a place of its own. */
  readonly target?: string | undefined;
  /** An open handle of what it starts as. */
  readonly live: number;
  /** Only asked where there are overlays: there a base makes it cheap. */
  base(): Promise<BaseState>;
  readonly about: ForkRecord['about'];
  /** Does what is left to do before anybody sees it. */
  finish(path: string): Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

export type ForkPlaces = ReturnType<typeof createForkPlaces>;

/**
 * Directories that began as a workspace was. Each has a record on disk, written when all of it is there, from which its
 * mount comes back after the server or the machine was started anew; without one it is swept.
 */
export function createForkPlaces({ parent: wanted, kinds = ['overlay', 'copy'] }: ForkPlacesOptions) {
  let parent: string | undefined;
  let hasOverlays: Promise<boolean> | undefined;
  const ready = () => (parent ??= prepareParent(wanted));
  const places = () => (existsSync(wanted) ? readdirSync(ready()).map((id) => join(ready(), id)) : []);
  const list = () => places().flatMap((place) => readRecord(place) ?? []);

  function canOverlay(): Promise<boolean> {
    const isWanted = kinds.includes('overlay') && process.getuid?.() === 0;
    hasOverlays ??= isWanted ? canMount(ready()) : Promise.resolve(false);
    return hasOverlays;
  }

  return {
    async create(fork: NewFork): Promise<ForkRecord> {
      mustReach(ready(), fork.live);
      const place = join(ready(), fork.id);
      const target = fork.target ?? join(place, 'merged');
      mkdirSync(place, { mode: 0o711 });
      writeMaker(place, { pid: process.pid, target });
      try {
        const record = await fill(place, { ...fork, target }, await canOverlay());
        await fork.finish(record.target);
        writeRecord(place, record);
        return record;
      } catch (thrown) {
        await removePlace(place, target);
        throw thrown;
      }
    },

    /** Those that are whole. */
    list,
    find: (id: string): ForkRecord | undefined => (existsSync(wanted) ? readRecord(join(ready(), id)) : undefined),
    ensure: (record: ForkRecord): void => ensureMounted(join(ready(), record.id), record),
    /** What whoever made it wants to know of it from now on. */
    note: (record: ForkRecord, about: ForkRecord['about']): void =>
      writeRecord(join(ready(), record.id), { ...record, about }),

    /** With all its files. Without its record it is not one any more, whenever the rest is done. */
    async remove({ id, target }: Pick<ForkRecord, 'id' | 'target'>): Promise<void> {
      await rm(join(ready(), id, 'fork.json'), { force: true });
      await removePlace(join(ready(), id), target);
    },

    /** Takes away what was not finished by a server that is no more. */
    async sweep(): Promise<void> {
      for (const place of places()) {
        const maker = readRecord(place) ? undefined : readMaker(place);
        if (maker && !existsSync(`/proc/${maker.pid}`)) await removePlace(place, maker.target);
      }
    },

    /** Lets go of what nobody uses: on another server somebody may. */
    async release(): Promise<void> {
      for (const { kind, target } of list()) if (kind === 'overlay') await unmountIfUnused(target);
    },
  };
}

async function fill(place: string, fork: NewFork & { target: string }, isOverlay: boolean): Promise<ForkRecord> {
  const { id, live, about, target } = fork;
  mkdirSync(target, { recursive: true, mode: 0o700 });
  const seen = realpathSync(target);
  if (!isOverlay) {
    await copyTree(live, target, { signal: fork.signal });
    return { id, kind: 'copy', base: '', target: seen, about };
  }
  const { base, paths } = await fork.base();
  const left = await seedFork(place, base.path, { live, paths });
  mountFork(place, { base: base.path, target: seen });
  await bringUp(target, live, left);
  keepTraits(target, fstatSync(live));
  return { id, kind: 'overlay', base: base.path, target: seen, about };
}
