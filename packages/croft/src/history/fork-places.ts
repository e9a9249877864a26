import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFork, type NewFork } from './fork-making.ts';
import { ensureMounted, removePlace } from './fork-mount.ts';
import { type ForkRecord, isAtWork, readMaker, readRecord, writeMaker, writeRecord } from './fork-records.ts';
import { dropSteps } from './layer-directories.ts';
import { canMount, mustReach, prepareParent } from './layers.ts';
import { unmountIfUnused } from './mounting.ts';

export type { NewFork } from './fork-making.ts';
export type { ForkRecord } from './fork-records.ts';

export interface ForkPlacesOptions {
  /** Of the data directory. */
  readonly parent: string;
  readonly kinds?: readonly ForkRecord['kind'][] | undefined;
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
  const ids = () => (existsSync(wanted) ? readdirSync(ready()) : []);
  const list = (but: ReadonlySet<string> = new Set()) =>
    ids().flatMap((id) => (but.has(id) ? [] : (readRecord(join(ready(), id)) ?? [])));
  const isUsed = (path: string) => list().some(({ base, steps }) => base === path || steps.includes(path));

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
      writeMaker(place, target);
      try {
        return await makeFork(place, { ...fork, target }, await canOverlay());
      } catch (thrown) {
        await removePlace(place, target);
        throw thrown;
      }
    },

    /** Those that are whole, but for these, which are not looked at. */
    list,
    find: (id: string): ForkRecord | undefined => (existsSync(wanted) ? readRecord(join(ready(), id)) : undefined),
    ensure: (record: ForkRecord): void => ensureMounted(join(ready(), record.id), record),
    /** What whoever made it wants to know of it from now on. */
    note: (record: ForkRecord, about: ForkRecord['about']): void =>
      writeRecord(join(ready(), record.id), { ...record, about }),

    /** With all its files. Without its record it is not one any more, whenever the rest is done. */
    async remove({ id, target }: Pick<ForkRecord, 'id' | 'target'>): Promise<void> {
      const place = join(ready(), id);
      const steps = readRecord(place)?.steps ?? [];
      await rm(join(place, 'fork.json'), { force: true });
      await removePlace(place, target);
      await dropSteps(steps, isUsed);
    },

    /** Whether a fork shows this layer. */
    isUsed,

    /** Takes away what was not finished by a server that is no more. */
    async sweep(): Promise<void> {
      const unfinished = ids()
        .map((id) => join(ready(), id))
        .filter((place) => !readRecord(place));
      for (const place of unfinished) {
        const maker = readMaker(place);
        if (maker && !isAtWork(maker)) await removePlace(place, maker.target);
        // Killed before it could say who it was, or while it tried out what can be mounted: all of it is in there.
        if (!maker && isOlder(place)) await removePlace(place, join(place, 'merged'));
      }
    },

    /** Lets go of what nobody uses: on another server somebody may. */
    async release(): Promise<void> {
      for (const { kind, target } of list()) if (kind === 'overlay') await unmountIfUnused(target);
    },
  };
}

/** Than this process: whoever makes one now says at once who it is. */
function isOlder(place: string): boolean {
  const stats = statSync(place, { throwIfNoEntry: false });
  return stats !== undefined && stats.mtimeMs < performance.timeOrigin;
}
