import { openAsBlob } from 'node:fs';
import { chmod, lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import type { ProgressLine } from '../output/progress-line.ts';
import { findControlPaths } from './control-paths.ts';
import { joinPath } from './file-location.ts';
import { hashLocalFile, type LocalTree, readLocalTree, removeLocalFile, writeLocalFile } from './local-tree.ts';
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
  /** Names of control files that may come to this machine: `.vscode`. */
  readonly allowControl: ReadonlySet<string>;
  readonly progress: ProgressLine;
}

export interface SyncResult extends FileSyncPlan {
  /** Paths on the side that was read that are neither files nor directories. */
  readonly skipped: readonly string[];
  /** Files that stay where they are, because programs of this machine would obey them. */
  readonly heldBack: readonly string[];
}

const atOnce = 8;

/** Makes one side as the other. Files are compared by their bytes, and only those that differ are sent. */
export async function runFileSync(options: SyncOptions): Promise<SyncResult> {
  const { files, local, remote, direction, exclude, progress } = options;
  progress.show('listing files');
  const listing = readWorkspaceTree(files, remote, exclude);
  const [here, there] = await Promise.all([
    readLocalTree(local, exclude),
    direction === 'push' ? listing.catch(toEmptyTree) : listing,
  ]);
  const result = await planSync({ here, there }, options);
  if (!options.isDry) await carryOut(result.steps, there, options);
  return result;
}

interface BothTrees {
  readonly here: LocalTree;
  readonly there: WorkspaceTree;
}

async function planSync({ here, there }: BothTrees, options: SyncOptions): Promise<SyncResult> {
  const { files, local, remote, direction, deletes, allowControl, progress } = options;
  const onCompared = (count: number) => progress.show(`compared ${count} files`);
  const isSame = async ({ path }: { path: string }) => {
    const file = there.files.get(path);
    return file !== undefined && hasContent(files, remote, file, await hashLocalFile(local, path));
  };
  if (direction === 'push') {
    const plan = await planFileSync({ source: here.files, target: there.files, deletes, isSame }, onCompared);
    return { ...plan, skipped: here.skipped, heldBack: [] };
  }
  const isControl = findControlPaths([...here.files.keys(), ...there.files.keys()], allowControl);
  const [source, target] = [without(there.files, isControl), without(here.files, isControl)];
  const plan = await planFileSync({ source, target, deletes, isSame }, onCompared);
  return { ...plan, skipped: there.skipped, heldBack: [...there.files.keys()].filter(isControl) };
}

function without<File>(files: ReadonlyMap<string, File>, isLeftOut: (path: string) => boolean): Map<string, File> {
  return new Map([...files].filter(([path]) => !isLeftOut(path)));
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
