import { AppError } from '@croft/protocol';
import type { Change, CurrentFile, FileState, Files, Replacement, WriteOptions } from '../core/files.ts';
import { toSegments } from '../core/path.ts';
import { isSyncedControl } from '../core/skills/places.ts';
import type { KeyedLock } from '../lib/keyed-lock.ts';
import { mustBeFree } from './held.ts';
import { type HeldFile, readCurrent, walkIfThere } from './read.ts';
import type { WritableRoot } from './sync.ts';
import type { Sweep } from './temporary.ts';
import { type Root, type Spot, walk } from './walk.ts';
import { type Decide, mustBeExpected, replaceFile, type Written } from './write.ts';

/** Where a write goes. */
interface Target {
  /** As the caller wrote it. */
  readonly path: string;
  /** The same from the root, its links not yet followed. */
  readonly own: string;
  readonly spot: Spot;
  readonly isExecutable?: boolean | undefined;
}

/** The ways to give a file new content that is all here. On one path they wait for each other. */
export function createWriter(root: WritableRoot, locks: KeyedLock, sweep: Sweep): Pick<Files, 'write' | 'change'> {
  return {
    write: async (path, bytes, options) => (await write(path, bytes, options)).written,

    async change<Decided extends Change>(path: string, decide: (current: CurrentFile | undefined) => Decided) {
      const own = beginWrite(root, path);
      using spot = walkIfThere(root, path);
      if (!spot) {
        const change = decide(undefined);
        return toChanged({ ...(await write(path, change.bytes, { expect: 'absent' })), change });
      }
      let current: HeldFile | undefined;
      const done = await replace({ path, own, spot }, async (found) => {
        current = found && (await readCurrent(found, spot.path, path));
        return decide(current);
      });
      return toChanged(done, current);
    },
  };

  async function write(path: string, bytes: Uint8Array, options: WriteOptions = {}) {
    const { expect, isExecutable, isSynced } = options;
    const own = beginWrite(root, path, isSynced);
    using spot = walk(root, path, { follow: true, create: true });
    return await replace({ path, own, spot, isExecutable }, async (found) => {
      await mustBeExpected(found, expect, path);
      return { bytes };
    });
  }

  async function replace<Decided extends Change>(target: Target, decide: Decide<Decided>) {
    const { path, own, spot, isExecutable } = target;
    // Once more for where it really leads.
    if (spot.path !== own) mustBeFree(root, spot.path);
    sweep(spot.directory);
    const isLate = locks.isHeld(spot.path);
    return await locks.run(spot.path, () =>
      replaceFile({ spot, isLate, decide, path, isExecutable, durability: root.durability }),
    );
  }
}

function toChanged<Decided extends Change>({ written, change, mode }: Written<Decided>, current?: HeldFile) {
  const { path, size, version } = written;
  const before = current && toState(current);
  const replacement: Replacement = { path, before, after: { mode, size, version, bytes: change.bytes } };
  return { written, change, replacement };
}

function toState({ mode, size, version, bytes }: FileState): FileState {
  return { mode, size, version, bytes };
}

/** Refuses a path by how it is written, before a directory is made for it. Answers it from the root. */
export function beginWrite(root: Root, path: string, isSynced = false): string {
  if (path.endsWith('/')) throw refuseDirectory(root, path);
  const own = toSegments(path, root.names).join('/');
  if (!(isSynced && isSyncedControl(own))) mustBeFree(root, own);
  return own;
}

/** Says what is wrong with the path itself first. */
function refuseDirectory(root: Root, path: string): AppError {
  using _ = walk(root, path, { follow: true });
  return new AppError('E_NOT_A_FILE', `path names a directory: ${path}`, { details: { path } });
}
