import { AppError } from '@croft/protocol';
import { inParallel } from '../../lib/in-parallel.ts';
import { sha256 } from '../../lib/sha256.ts';
import type { Files } from '../files.ts';
import { createLook } from './look.ts';
import { passOver } from './passed-over.ts';
import { syncedAgents } from './places.ts';
import type { PlannedWrite, SyncPlan } from './plan-sync.ts';
import type { Reason } from './source.ts';

export interface ApplyOptions {
  readonly files: Files;
  /** Of the workspace. Nothing outside it is touched. */
  readonly directory: string;
  readonly signal: AbortSignal;
  /** After each file that was looked at, written or taken away. */
  onStep(): void;
}

/** Each is a way to another machine and back, or a sync of the disk. */
export const atOnce = 8;

export interface Applied {
  readonly written: readonly string[];
  readonly removed: readonly string[];
  /** What was not written after all, by its path below the directory. */
  readonly overtaken: readonly Reason[];
}

/** Does what was planned. A file is replaced only if it is still what it was when it was looked at. */
export async function applySync({ writes, removals, before }: SyncPlan, options: ApplyOptions): Promise<Applied> {
  const { files, directory, signal, onStep } = options;
  const isSynced = directory === syncedAgents;
  const [written, removed, overtaken]: [string[], string[], Reason[]] = [[], [], []];

  await inParallel(writes, atOnce, async (planned) => {
    signal.throwIfAborted();
    const path = `${directory}/${planned.file.path}`;
    const reason = await put(files, path, planned, isSynced);
    if (reason === undefined) written.push(path);
    else overtaken.push({ path: planned.file.path, reason });
    onStep();
  });
  for (const name of removals) {
    signal.throwIfAborted();
    const path = `${directory}/${name}`;
    // Looked at once more: there is no removing on a condition, and the writes may have taken long.
    const now = await createLook(files)(path);
    if (now.kind === 'file' && before.get(name)?.hashes.includes(now.hash))
      await files.remove(path, { recursive: false, signal, isSynced }).then(() => removed.push(path), passOver);
    else if (now.kind !== 'absent') overtaken.push({ path: name, reason: 'it was changed in the workspace' });
    onStep();
  }
  await removeEmpty(removed, options);
  return { written: written.sort(), removed: removed.sort(), overtaken };
}

/** Nothing, or why it was not written after all: others may be at work in the same place. */
async function put(files: Files, path: string, { file, expect }: PlannedWrite, isSynced: boolean) {
  const bytes = await file.read();
  if (sha256(bytes) !== file.hash) return 'it changes on the server at this moment';
  try {
    const { path: real } = await files.write(path, bytes, { expect, isExecutable: file.isExecutable, isSynced });
    return real === path ? undefined : 'a link came in its way';
  } catch (thrown) {
    if (!AppError.is(thrown)) throw thrown;
    if (!isOvertaken(thrown) && thrown.code !== 'E_CONTROL_FILE') passOver(thrown);
    const now = await createLook(files)(path);
    return now.kind === 'file' && now.hash === file.hash ? undefined : thrown.message;
  }
}

/** Somebody else was first. */
export function isOvertaken(thrown: unknown): boolean {
  return AppError.is(thrown) && (thrown.code === 'E_STALE' || thrown.code === 'E_ALREADY_EXISTS');
}

/** The directories of what was taken away, from the innermost, as far as they are empty and in their own place. */
async function removeEmpty(removed: readonly string[], { files, directory, signal }: ApplyOptions) {
  const parents = new Set(removed.flatMap((path) => parentsOf(path, directory)));
  for (const path of [...parents].sort((a, b) => b.length - a.length)) {
    const listing = await files.list(path, { limit: 1 }).catch(passOver);
    if (listing?.path !== path || listing.entries.length > 0) continue;
    await files.remove(path, { recursive: false, signal }).catch(ifNotEmpty);
  }
}

/** Below `directory`, which stays. */
function parentsOf(path: string, directory: string): string[] {
  const parent = path.slice(0, path.lastIndexOf('/'));
  return parent.length <= directory.length ? [] : [parent, ...parentsOf(parent, directory)];
}

function ifNotEmpty(thrown: unknown): undefined {
  if (AppError.is(thrown) && thrown.code === 'E_DIRECTORY_NOT_EMPTY') return undefined;
  return passOver(thrown);
}
