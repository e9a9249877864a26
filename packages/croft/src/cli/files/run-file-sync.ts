import { openAsBlob } from 'node:fs';
import { chmod, lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import type { ProgressLine } from '../output/progress-line.ts';
import { joinPath } from './file-location.ts';
import { hashLocalFile, readLocalTree, removeLocalFile, writeLocalFile } from './local-tree.ts';
import { type FileSyncPlan, planFileSync, type SyncStep } from './plan-file-sync.ts';
import { hasContent, readWorkspaceTree, type WorkspaceFiles, type WorkspaceTree } from './workspace-tree.ts';

export interface SyncOptions {
  readonly files: WorkspaceFiles;
  /** A directory of this machine. */
  readonly local: string;
  /** A folder of the workspace. */
  readonly remote: string;
  readonly direction: 'push' | 'pull';
  readonly deletes: boolean;
  readonly isDry: boolean;
  readonly exclude: ReadonlySet<string>;
  readonly progress: ProgressLine;
}

export interface SyncResult extends FileSyncPlan {
  /** Paths on the side that was read that are neither files nor directories. */
  readonly skipped: readonly string[];
}

const atOnce = 8;

/** Makes one side as the other. Files are compared by their bytes, and only those that differ are sent. */
export async function runFileSync(options: SyncOptions): Promise<SyncResult> {
  const { files, local, remote, direction, deletes, exclude, progress } = options;
  progress.show('listing files');
  const listing = readWorkspaceTree(files, remote, exclude);
  const [here, there] = await Promise.all([
    readLocalTree(local, exclude),
    direction === 'push' ? listing.catch(toEmptyTree) : listing,
  ]);
  const onCompared = (count: number) => progress.show(`compared ${count} files`);
  const isSame = async (path: string) => {
    const file = there.files.get(path);
    return file !== undefined && hasContent(files, remote, file, await hashLocalFile(local, path));
  };
  const compare = { deletes, isSame: ({ path }: { path: string }) => isSame(path) };
  const plan =
    direction === 'push'
      ? await planFileSync({ source: here.files, target: there.files, ...compare }, onCompared)
      : await planFileSync({ source: there.files, target: here.files, ...compare }, onCompared);
  if (!options.isDry) await carryOut(plan.steps, there, options);
  return { ...plan, skipped: direction === 'push' ? here.skipped : there.skipped };
}

/** A folder that is not there yet is made by the first file in it. */
function toEmptyTree(thrown: unknown): WorkspaceTree {
  if (AppError.is(thrown) && thrown.code === 'E_FILE_NOT_FOUND') return { files: new Map(), skipped: [] };
  throw thrown;
}

async function carryOut(steps: readonly SyncStep[], there: WorkspaceTree, options: SyncOptions): Promise<void> {
  const { progress, direction } = options;
  const rest = steps.values();
  let done = 0;
  const work = async () => {
    for (const step of rest) {
      await (direction === 'push' ? push(step, there, options) : pull(step, there, options));
      progress.show(`${++done} of ${steps.length} files`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

/** A file that somebody changed since it was listed is not overwritten. */
async function push(
  { kind, path }: SyncStep,
  there: WorkspaceTree,
  { files, local, remote }: SyncOptions,
): Promise<void> {
  const target = joinPath(remote, path);
  if (kind === 'delete') return void (await files.remove(target));
  // A link may have taken the place of the file.
  if (!(await lstat(join(local, path))).isFile()) return;
  const ifMatch = there.files.get(path)?.etag;
  await files.upload(target, await openAsBlob(join(local, path)), { ifMatch, isNew: kind === 'add' });
}

async function pull(
  { kind, path }: SyncStep,
  there: WorkspaceTree,
  { files, local, remote }: SyncOptions,
): Promise<void> {
  if (kind === 'delete') return removeLocalFile(local, path);
  const { body } = await files.download(joinPath(remote, path));
  await writeLocalFile(local, path, body as AsyncIterable<Uint8Array> & typeof body);
  if (there.files.get(path)?.isExecutable) await chmod(join(local, path), 0o755);
}
