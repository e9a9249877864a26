import { close, closeSync, type Stats, unlinkSync } from 'node:fs';
import { AppError } from '@croft/protocol';
import type { FileVersion, NewContent, Precondition } from '../../core/files/files.ts';
import type { Durability } from '../../core/storage/durability.ts';
import { sha256InTurns } from '../../lib/crypto/sha256.ts';
import { type NameInDirectory, replaceDurably, stale } from '../durable/replace-durably.ts';
import { newTemporaryName } from '../durable/temporary-file-names.ts';
import { at, probe, statOf } from '../paths/handles.ts';
import type { OpenedEntry, ResolvedPath } from '../paths/walk.ts';
import { mustBeFile, toStat, versionOf } from '../read/read-content.ts';
import { writeTemporaryFile } from './write-temporary-file.ts';

/** Decides the new content from the current file. If it throws, nothing changes. */
export type Decide<Decided extends NewContent> = (current: OpenedEntry | undefined) => Promise<Decided>;

interface ReplaceFileOptions<Decided extends NewContent> {
  readonly target: ResolvedPath;
  /** Whether another write may have changed the file since it was resolved. */
  readonly isLate: boolean;
  readonly decide: Decide<Decided>;
  /** The path as the caller wrote it. */
  readonly path: string;
  readonly isExecutable?: boolean | undefined;
  readonly durability: Durability;
}

export interface Written<Decided extends NewContent> {
  readonly written: FileVersion;
  readonly change: Decided;
  readonly mode: number;
}

/** Replaces a file by new content. Two calls must not run for one path at once. */
export async function replaceFile<Decided extends NewContent>(
  options: ReplaceFileOptions<Decided>,
): Promise<Written<Decided>> {
  const { target, isLate, decide, path, isExecutable, durability } = options;
  using again = isLate ? openCurrent(target) : undefined;
  const found = again ? again.found : target.found;
  const before = found && mustBeFile(found.stats, path);
  const change = await decide(found);
  const { written, mode } = await putBytes({ target, before, bytes: change.bytes, path, isExecutable, durability });
  // Closed later: closing the last handle to a replaced file frees its blocks, which takes time.
  const replaced = target.take();
  if (replaced) setImmediate(() => close(replaced.handle, () => {}));
  return { written, change, mode };
}

interface PutOptions {
  readonly target: ResolvedPath;
  readonly before: Stats | undefined;
  readonly bytes: Uint8Array;
  readonly path: string;
  readonly isExecutable: boolean | undefined;
  readonly durability: Durability;
}

/** Writes a temporary file beside the old one, and replaces the old one by it. */
async function putBytes(options: PutOptions): Promise<{ written: FileVersion; mode: number }> {
  const { target, before, bytes, path, isExecutable, durability } = options;
  const from = { directoryFd: target.directoryFd, name: newTemporaryName() };
  try {
    using beside = await writeTemporaryFile({ location: from, bytes, before, isExecutable });
    const replaced = replaceDurably({ handle: beside.handle, from, to: target, before, path }, durability);
    // The hash is computed while the file is being synced.
    const [version] = await Promise.all([sha256InTurns(bytes), replaced]);
    const stats = statOf(beside.handle);
    return { written: { ...toStat(target.path, stats), version }, mode: stats.mode & 0o777 };
  } catch (thrown) {
    discard(from);
    throw thrown;
  }
}

/** Opens the current file of this name. */
export function openCurrent({
  directoryFd,
  name,
}: ResolvedPath): { readonly found: OpenedEntry | undefined } & Disposable {
  const handle = probe(directoryFd, name);
  return {
    found: handle === undefined ? undefined : { handle, stats: statOf(handle) },
    [Symbol.dispose]() {
      if (handle !== undefined) closeSync(handle);
    },
  };
}

export async function mustBeExpected(
  found: OpenedEntry | undefined,
  expect: Precondition | undefined,
  path: string,
): Promise<void> {
  if (expect === undefined) return;
  if (expect === 'absent') {
    if (found) throw new AppError('E_ALREADY_EXISTS', `already exists: ${path}`, { details: { path } });
  } else if (!found || (await versionOf(found.handle, found.stats, path)) !== expect.version) throw stale(path);
}

export function discard({ directoryFd, name }: NameInDirectory): void {
  try {
    unlinkSync(at(directoryFd, name));
  } catch {
    // Already removed or renamed. The caller reports the error that led here.
  }
}
