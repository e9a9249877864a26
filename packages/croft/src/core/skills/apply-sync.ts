import { AppError } from '@croft/protocol';
import { inParallel } from '../../lib/concurrency/in-parallel.ts';
import { sha256 } from '../../lib/crypto/sha256.ts';
import type { Files } from '../files/files.ts';
import { ignorePathError } from './ignore-path-error.ts';
import { createPathInspector } from './inspect-path.ts';
import type { PlannedWrite, SyncPlan } from './plan-sync.ts';
import { syncedAgentsDirectory } from './skill-directories.ts';
import type { PathReason } from './skills-source.ts';

export interface ApplySyncOptions {
  readonly files: Files;
  /** The synced directory of the workspace. Nothing outside it is touched. */
  readonly directory: string;
  readonly signal: AbortSignal;
  /** Called after each file that was inspected, written or removed. */
  onStep(): void;
}

/** Files at once. Each costs a round trip to another machine, or a sync of the disk. */
export const maxParallelFiles = 8;

interface AppliedSync {
  readonly written: readonly string[];
  readonly removed: readonly string[];
  /** Files that were not written after all, by path below the directory. */
  readonly overtaken: readonly PathReason[];
}

/** Carries out a plan. A file is replaced only if it is unchanged since it was inspected. */
export async function applySync(
  { writes, removals, before }: SyncPlan,
  options: ApplySyncOptions,
): Promise<AppliedSync> {
  const { files, directory, signal, onStep } = options;
  const isSynced = directory === syncedAgentsDirectory;
  const [written, removed, overtaken]: [string[], string[], PathReason[]] = [[], [], []];

  await inParallel(writes, maxParallelFiles, async (planned) => {
    signal.throwIfAborted();
    const path = `${directory}/${planned.file.path}`;
    const reason = await writePlanned(files, path, planned, isSynced);
    if (reason === undefined) written.push(path);
    else overtaken.push({ path: planned.file.path, reason });
    onStep();
  });
  for (const name of removals) {
    signal.throwIfAborted();
    const path = `${directory}/${name}`;
    // Inspects the file again: `remove` takes no precondition, and the writes may have taken long.
    const now = await createPathInspector(files)(path);
    if (now.kind === 'file' && before.get(name)?.hashes.includes(now.hash))
      await files.remove(path, { recursive: false, signal, isSynced }).then(() => removed.push(path), ignorePathError);
    else if (now.kind !== 'absent') overtaken.push({ path: name, reason: 'it was changed in the workspace' });
    onStep();
  }
  await removeEmpty(removed, options);
  return { written: written.sort(), removed: removed.sort(), overtaken };
}

/** Writes a file. Returns why it was not written, because others may write the same path, or `undefined`. */
async function writePlanned(files: Files, path: string, { file, expect }: PlannedWrite, isSynced: boolean) {
  const bytes = await file.read();
  if (sha256(bytes) !== file.hash) return 'it is being changed on the server';
  try {
    const { path: real } = await files.write(path, bytes, { expect, isExecutable: file.isExecutable, isSynced });
    return real === path ? undefined : 'a link appeared on its path';
  } catch (thrown) {
    if (!AppError.is(thrown)) throw thrown;
    if (!isWrittenByOther(thrown) && thrown.code !== 'E_CONTROL_FILE') ignorePathError(thrown);
    const now = await createPathInspector(files)(path);
    return now.kind === 'file' && now.hash === file.hash ? undefined : thrown.message;
  }
}

/** Whether another writer was faster. */
export function isWrittenByOther(thrown: unknown): boolean {
  return AppError.is(thrown) && (thrown.code === 'E_STALE' || thrown.code === 'E_ALREADY_EXISTS');
}

/** Removes the directories of removed files, the innermost first, if they are empty and no link. */
async function removeEmpty(removed: readonly string[], { files, directory, signal }: ApplySyncOptions) {
  const parents = new Set(removed.flatMap((path) => parentsOf(path, directory)));
  for (const path of [...parents].sort((a, b) => b.length - a.length)) {
    const listing = await files.list(path, { limit: 1 }).catch(ignorePathError);
    if (listing?.path !== path || listing.entries.length > 0) continue;
    await files.remove(path, { recursive: false, signal }).catch(ifNotEmpty);
  }
}

/** Lists the parents below `directory`, which itself stays. */
function parentsOf(path: string, directory: string): string[] {
  const parent = path.slice(0, path.lastIndexOf('/'));
  return parent.length <= directory.length ? [] : [parent, ...parentsOf(parent, directory)];
}

function ifNotEmpty(thrown: unknown): undefined {
  if (AppError.is(thrown) && thrown.code === 'E_DIRECTORY_NOT_EMPTY') return undefined;
  return ignorePathError(thrown);
}
