import { closeSync, constants, fchmodSync, fchownSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sha256 } from './sha256.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/** By where the workspace is rather than by what the model calls it, which two workspaces may share. */
export function cacheAt(caches: string, place: string): string {
  return join(caches, sha256(place).slice(0, 32));
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Something is where a directory should be that we did not put there. */
export class ForeignEntryError extends Error {
  override readonly name = 'ForeignEntryError';
}

/** The directory that holds caches. Whoever may come this far still needs to own the one below. */
export function makeCaches(path: string): void {
  closeSync(
    openOrMake(path, () => {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      makeIfMissing(path, 0o711);
    }),
  );
}

/** A directory for one owner alone: the one that is there, or a new one. Never through a link. */
export function makeCache(path: string, owner: Owner | undefined): void {
  const handle = openOrMake(path, () => makeIfMissing(path, 0o700));
  try {
    if (owner) fchownSync(handle, owner.uid, owner.gid);
    // Whoever works in it can have opened it to others.
    fchmodSync(handle, 0o700);
  } finally {
    closeSync(handle);
  }
}

/** It is nearly always there. What is there instead is told of by who cannot make it. */
function openOrMake(path: string, make: () => void): number {
  try {
    return openItself(path);
  } catch {
    make();
    return openItself(path);
  }
}

function makeIfMissing(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (thrown) {
    if (codeOf(thrown) !== 'EEXIST') throw thrown;
  }
}

function openItself(path: string): number {
  try {
    return openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (cause) {
    if (!['ELOOP', 'ENOTDIR'].includes(codeOf(cause))) throw cause;
    throw new ForeignEntryError(`${path} is a link or a file where a directory of caches belongs; remove it`, {
      cause,
    });
  }
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
}
