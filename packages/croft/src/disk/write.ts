import { close, closeSync, type Stats, unlinkSync } from 'node:fs';
import { AppError } from '@croft/protocol';
import type { Durability } from '../core/durability.ts';
import type { Change, FileVersion, Precondition } from '../core/files.ts';
import { sha256 } from '../lib/sha256.ts';
import { at, probe, statOf } from './handles.ts';
import { mustBeFile, toStat, versionOf } from './read.ts';
import { type Place, settle, stale } from './settle.ts';
import { newTemporaryName } from './temporary.ts';
import type { Found, Spot } from './walk.ts';
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
  readonly durability: Durability;
}

export interface Written<Decided extends Change> {
  readonly written: FileVersion;
  readonly change: Decided;
  readonly mode: number;
}

/** Not for two calls at once on one path. */
export async function replaceFile<Decided extends Change>(options: WriteOptions<Decided>): Promise<Written<Decided>> {
  const { spot, isLate, decide, path, isExecutable, durability } = options;
  using again = isLate ? lookAgain(spot) : undefined;
  const found = again ? again.found : spot.found;
  const before = found && mustBeFile(found.stats, path);
  const change = await decide(found);
  const { written, mode } = await putBytes({ spot, before, bytes: change.bytes, path, isExecutable, durability });
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
  readonly durability: Durability;
}

/** Writes beside the old file, and puts that in its place. */
async function putBytes(options: PutOptions): Promise<{ written: FileVersion; mode: number }> {
  const { spot, before, bytes, path, isExecutable, durability } = options;
  const from = { directory: spot.directory, name: newTemporaryName() };
  try {
    using beside = await writeBeside({ place: from, bytes, before, isExecutable });
    const settled = settle({ handle: beside.handle, from, to: spot, before, path }, durability);
    // While that is on its way.
    const version = sha256(bytes);
    await settled;
    const stats = statOf(beside.handle);
    return { written: { ...toStat(spot.path, stats), version }, mode: stats.mode & 0o777 };
  } catch (thrown) {
    discard(from);
    throw thrown;
  }
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

export function discard({ directory, name }: Place): void {
  try {
    unlinkSync(at(directory, name));
  } catch {
    // Already gone or renamed; the failure that brought us here is the one to tell.
  }
}
