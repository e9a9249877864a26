import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { canMountOverlay, mustBeReachableByOwner, prepareLayersDirectory } from '../overlay/layers.ts';
import { unmountIfUnused } from '../overlay/mount-overlay.ts';
import { dropSteps } from './clean-up-layer-directories.ts';
import { type ForkRecord, isAtWork, readMaker, readRecord, writeMaker, writeRecord } from './fork-records.ts';
import { makeFork, type NewFork } from './make-fork.ts';
import { ensureMounted, removeForkDirectory } from './mount-fork.ts';

export type { ForkRecord } from './fork-records.ts';
export type { NewFork } from './make-fork.ts';

interface ForkDirectoriesOptions {
  /** A directory in the data directory. */
  readonly parent: string;
  readonly kinds?: readonly ForkRecord['kind'][] | undefined;
}

export type ForkDirectories = ReturnType<typeof createForkDirectories>;

/**
 * Directories of forks. Each has a record on disk, written when the fork is complete. After a restart of the server or
 * the machine, the mount is made again from the record. A directory without a record is swept.
 */
export function createForkDirectories({ parent: wanted, kinds = ['overlay', 'copy'] }: ForkDirectoriesOptions) {
  let parent: string | undefined;
  let hasOverlays: Promise<boolean> | undefined;
  const ready = () => (parent ??= prepareLayersDirectory(wanted));
  const ids = () => (existsSync(wanted) ? readdirSync(ready()) : []);
  const list = (but: ReadonlySet<string> = new Set()) =>
    ids().flatMap((id) => (but.has(id) ? [] : (readRecord(join(ready(), id)) ?? [])));
  const isUsed = (path: string) => list().some(({ base, steps }) => base === path || steps.includes(path));

  function canOverlay(): Promise<boolean> {
    const isWanted = kinds.includes('overlay') && process.getuid?.() === 0;
    hasOverlays ??= isWanted ? canMountOverlay(ready()) : Promise.resolve(false);
    return hasOverlays;
  }

  return {
    async create(fork: NewFork): Promise<ForkRecord> {
      mustBeReachableByOwner(ready(), fork.workspaceFd);
      const directory = join(ready(), fork.id);
      const target = fork.target ?? join(directory, 'merged');
      mkdirSync(directory, { mode: 0o711 });
      writeMaker(directory, target);
      try {
        return await makeFork(directory, { ...fork, target }, await canOverlay());
      } catch (thrown) {
        await removeForkDirectory(directory, target);
        throw thrown;
      }
    },

    /** Lists complete forks, except for these ids, whose records are not read. */
    list,
    find: (id: string): ForkRecord | undefined => (existsSync(wanted) ? readRecord(join(ready(), id)) : undefined),
    ensure: (record: ForkRecord): void => ensureMounted(join(ready(), record.id), record),
    /** Replaces the creator's note about the fork. */
    note: (record: ForkRecord, about: ForkRecord['about']): void =>
      writeRecord(join(ready(), record.id), { ...record, about }),

    /** Deletes a fork with all its files. It stops being a fork when its record is deleted, before the rest is done. */
    async remove({ id, target }: Pick<ForkRecord, 'id' | 'target'>): Promise<void> {
      const directory = join(ready(), id);
      const steps = readRecord(directory)?.steps ?? [];
      await rm(join(directory, 'fork.json'), { force: true });
      await removeForkDirectory(directory, target);
      await dropSteps(steps, isUsed);
    },

    /** Whether a fork uses this layer. */
    isUsed,

    /** Deletes forks that a server left unfinished when it ended. */
    async sweep(): Promise<void> {
      const unfinished = ids()
        .map((id) => join(ready(), id))
        .filter((directory) => !readRecord(directory));
      for (const directory of unfinished) {
        const maker = readMaker(directory);
        if (maker && !isAtWork(maker)) await removeForkDirectory(directory, maker.target);
        // The server was killed before it wrote `maker.json`, or during a probe for overlays. All files are inside the
        // directory.
        if (!maker && isOlder(directory)) await removeForkDirectory(directory, join(directory, 'merged'));
      }
    },

    /** Unmounts forks that no process uses, on this server or another one. */
    async release(): Promise<void> {
      for (const { kind, target } of list()) if (kind === 'overlay') await unmountIfUnused(target);
    },
  };
}

/** Whether the directory is older than this process. A process that makes a fork writes `maker.json` at once. */
function isOlder(forkDirectory: string): boolean {
  const stats = statSync(forkDirectory, { throwIfNoEntry: false });
  return stats !== undefined && stats.mtimeMs < performance.timeOrigin;
}
