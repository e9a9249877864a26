import { close, closeSync, lstatSync, renameSync, type Stats, unlinkSync } from 'node:fs';
import { AppError } from '@croft/protocol';
import type { Change, FileVersion, Precondition } from '../core/files.ts';
import { sha256 } from '../lib/sha256.ts';
import { at, statOf } from './handles.ts';
import { linkIfFree } from './link.ts';
import { mustBeFile, toStat, versionOf } from './read.ts';
import { directoryToSync, syncWhile } from './sync.ts';
import { newTemporaryName } from './temporary.ts';
import { type Found, probe, type Spot } from './walk.ts';
import { writeBeside } from './write-beside.ts';

/** The new content, from the file that is there. What it throws leaves everything as it was. */
export type Decide<Decided extends Change> = (current: Found | undefined) => Promise<Decided>;

export interface WriteOptions<Decided extends Change> {
  readonly spot: Spot;
  /** Whether another write may have overtaken what was found at the spot. */
  readonly isLate: boolean;
  readonly decide: Decide<Decided>;
  /** As the caller wrote it. */
  readonly path: string;
  readonly isExecutable?: boolean | undefined;
}

export interface Written<Decided extends Change> {
  readonly written: FileVersion;
  readonly change: Decided;
  readonly mode: number;
}

/** Not for two calls at once on one path. */
export async function replaceFile<Decided extends Change>(options: WriteOptions<Decided>): Promise<Written<Decided>> {
  const { spot, isLate, decide, path, isExecutable } = options;
  using again = isLate ? lookAgain(spot) : undefined;
  const found = again ? again.found : spot.found;
  const before = found && mustBeFile(found.stats, path);
  const change = await decide(found);
  const { written, mode } = await putBytes({ spot, before, bytes: change.bytes, path, isExecutable });
  // The last handle to a file that was replaced frees its blocks when it closes, which takes its time.
  const replaced = spot.take();
  if (replaced) setImmediate(() => close(replaced.handle, () => {}));
  return { written, change, mode };
}

interface PutOptions {
  readonly spot: Spot;
  readonly before: Stats | undefined;
  readonly bytes: Uint8Array;
  readonly path: string;
  readonly isExecutable: boolean | undefined;
}

/**
 * Writes beside the old file, makes that durable, then puts it in the old one's place: whoever looks, and
 * whatever stops in between, finds the old bytes or the new.
 *
 * One sync after the rename would cost half, and would not do: a journal may take the new name in while the blocks of
 * the new file are on their way, and after a power cut the file is all zeros. See `test/security/power-cut.test.ts`.
 */
async function putBytes(options: PutOptions): Promise<{ written: FileVersion; mode: number }> {
  const { spot, before, bytes, path, isExecutable } = options;
  const temporary = at(spot.directory, newTemporaryName());
  using directory = directoryToSync(spot.directory);
  try {
    using beside = await writeBeside({ temporary, bytes, before, directory: spot.directory, isExecutable });
    const version = await syncWhile(beside.handle, () => {
      directory.open();
      return sha256(bytes);
    });
    const stats = statOf(beside.handle);
    checkUntouched(spot, before, path);
    putInPlace(temporary, at(spot.directory, spot.name), before !== undefined, path);
    await directory.sync();
    return { written: { ...toStat(spot.path, stats), version }, mode: stats.mode & 0o777 };
  } catch (thrown) {
    discard(temporary);
    throw thrown;
  }
}

/** A file that was not there is linked and not renamed: of two servers that make it at once, one must fail. */
export function putInPlace(temporary: string, name: string, isThere: boolean, path: string): void {
  if (!isThere && linkIfFree(temporary, name, path)) unlinkSync(temporary);
  else renameSync(temporary, name);
}

/** What is at the spot now. */
export function lookAgain({ directory, name }: Spot): { readonly found: Found | undefined } & Disposable {
  const handle = probe(directory, name);
  return {
    found: handle === undefined ? undefined : { handle, stats: statOf(handle) },
    [Symbol.dispose]() {
      if (handle !== undefined) closeSync(handle);
    },
  };
}

export async function mustBeExpected(
  found: Found | undefined,
  expect: Precondition | undefined,
  path: string,
): Promise<void> {
  if (expect === undefined) return;
  if (expect === 'absent') {
    if (found) throw new AppError('E_ALREADY_EXISTS', `already exists: ${path}`, { details: { path } });
  } else if (!found || (await versionOf(found.handle, found.stats, path)) !== expect.version) throw stale(path);
}

/** Others may write while ours goes to the disk; what they wrote must not be lost to it. */
export function checkUntouched({ directory, name }: Spot, before: Stats | undefined, path: string): void {
  const now = lstatSync(at(directory, name), { throwIfNoEntry: false });
  if (now?.ino !== before?.ino || now?.mtimeMs !== before?.mtimeMs || now?.size !== before?.size) throw stale(path);
}

export function discard(temporary: string): void {
  try {
    unlinkSync(temporary);
  } catch {
    // Already gone or renamed; the failure that brought us here is the one to tell.
  }
}

function stale(path: string): AppError {
  return new AppError('E_STALE', `${path} changed since it was last read`, { details: { path } });
}
