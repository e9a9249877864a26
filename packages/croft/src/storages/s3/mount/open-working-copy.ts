import { randomBytes } from 'node:crypto';
import { closeSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import type { HistoryStore } from '../../../core/history/ports/history-store.ts';
import { emptyTreeHash } from '../../../core/history/ports/tree.ts';
import type { WorkingTree } from '../../../core/history/ports/working-tree.ts';
import type { ObjectStore } from '../../../core/storage/object-store.ts';
import { openRoot } from '../../../disk/paths/handles.ts';
import { makeWorkspaceDirectory } from '../../../lib/files/make-workspace-directory.ts';
import { ownerOf } from '../../../lib/files/workspace-owner.ts';
import { pathOfFileOrMarker } from '../layout/object-keys.ts';
import { readHead } from '../layout/workspace-head.ts';
import { readBootId } from './commit/set-aside-torn-files.ts';
import { downloadWorkspace } from './refresh/download-workspace.ts';
import { type KnownObject, type MountManifest, openMountManifest } from './working-copy/manifest.ts';
import type { MountContext, MountPhase } from './working-copy/mount-context.ts';
import { toTreeEntry } from './working-copy/publish-commit.ts';

export interface WorkingCopyOptions {
  readonly objects: ObjectStore;
  readonly namespace: string;
  /** Directory of this workspace on this machine: its files in `files`, the manifest and the spool. */
  readonly directory: string;
  openTree(handle: number, store: HistoryStore): Promise<WorkingTree>;
  readonly store: HistoryStore;
  /** Larger files get a placeholder until they are needed (8 MiB). */
  readonly lazyBytes?: number | undefined;
  readonly access: 'read-write' | 'read-only';
  onProgress?(phase: MountPhase, done: number, total: number | undefined): void;
  /** Receives messages for the operator. */
  onWarning?(message: string): void;
}

const lazyBytes = 8 * 1024 * 1024;
const maxWarnings = 1000;

interface OpenedWorkingCopy {
  readonly context: MountContext;
  /** Whether the working copy existed already, so that it may be outdated or have uncommitted changes. */
  readonly isKnown: boolean;
}

/** Opens the working copy that this machine has, or downloads it from the bucket. */
export async function openWorkingCopy(options: WorkingCopyOptions, signal?: AbortSignal): Promise<OpenedWorkingCopy> {
  const { directory } = options;
  mkdirSync(directory, { recursive: true, mode: 0o711 });
  const manifest = openMountManifest(join(directory, 'manifest.db'));
  try {
    removeLeftovers(directory);
    const files = join(directory, 'files');
    const isKnown = manifest.state().isReady && lstatSync(files, { throwIfNoEntry: false }) !== undefined;
    if (!isKnown) await mustBeConditional(options, signal);
    return isKnown ? await reopen(options, manifest) : await downloadFirst(options, manifest, signal);
  } catch (thrown) {
    manifest.close();
    throw thrown;
  }
}

async function reopen(options: WorkingCopyOptions, manifest: MountManifest): Promise<OpenedWorkingCopy> {
  const context = await toMountContext(options, manifest);
  return { context, isKnown: true };
}

/**
 * Downloads the workspace. An existing `files` directory comes from an opening that was interrupted; nobody has seen
 * it.
 */
async function downloadFirst(
  options: WorkingCopyOptions,
  manifest: MountManifest,
  signal?: AbortSignal,
): Promise<OpenedWorkingCopy> {
  const { directory, objects, namespace } = options;
  rmSync(join(directory, 'files'), { recursive: true, force: true });
  // The head is read first, so that every later commit counts as new.
  const head = await readHead(objects, namespace, { signal });
  const opening = makeWorkspaceDirectory(directory, `opening-${randomBytes(8).toString('hex')}`, namespace);
  const known = await downloadWorkspace(toDownloadContext(options, opening), {
    ...{ directory: opening, lazyBytes: options.lazyBytes ?? lazyBytes, signal },
  });
  renameSync(opening, join(directory, 'files'));
  const context = await toMountContext(options, manifest);
  const base = await baseOf(context, known);
  const seen = head === 'unchanged' ? undefined : head;
  manifest.change(() => {
    for (const key of manifest.keys()) manifest.drop(key);
    for (const [key, one] of known) manifest.put(key, one);
    manifest.setIntent(undefined);
    manifest.setWaiting(new Map());
    manifest.setState({ headVersion: seen?.head.version ?? 0, headEtag: seen?.etag ?? '', base });
    manifest.setState({ isReady: true, by: randomBytes(8).toString('hex'), bootId: readBootId() });
  });
  return { context, isKnown: false };
}

function baseOf({ tree }: MountContext, known: ReadonlyMap<string, KnownObject>) {
  const changes = [...known].map(([key, one]) => ({ path: pathOfFileOrMarker(key) ?? '', after: toTreeEntry(one) }));
  return changes.length === 0 ? emptyTreeHash : tree.amend(emptyTreeHash, changes);
}

async function toMountContext(options: WorkingCopyOptions, manifest: MountManifest): Promise<MountContext> {
  const handle = openRoot(join(options.directory, 'files'));
  try {
    const tree = await options.openTree(handle, options.store);
    return { ...toShared(options), manifest, tree, handle, owner: ownerOf(handle) };
  } catch (thrown) {
    closeSync(handle);
    throw thrown;
  }
}

function toDownloadContext(options: WorkingCopyOptions, directory: string) {
  const handle = openRoot(directory);
  try {
    return { ...toShared(options), owner: ownerOf(handle) };
  } finally {
    closeSync(handle);
  }
}

function toShared({ objects, namespace, directory, onProgress, onWarning }: WorkingCopyOptions) {
  const spool = join(directory, 'spool');
  mkdirSync(spool, { recursive: true, mode: 0o700 });
  const warned = new Set<string>();
  return {
    ...{ objects, namespace, spool },
    warn(message: string): void {
      if (warned.has(message) || warned.size >= maxWarnings) return;
      warned.add(message);
      onWarning?.(message);
    },
    progress: (phase: MountPhase, done: number, total?: number) => onProgress?.(phase, done, total),
  };
}

/** Removes files of an earlier run: in the spool, and of unfinished openings. */
function removeLeftovers(directory: string): void {
  rmSync(join(directory, 'spool'), { recursive: true, force: true });
  for (const name of readdirSync(directory).filter((found) => found.startsWith('opening-')))
    rmSync(join(directory, name), { recursive: true, force: true });
}

async function mustBeConditional({ objects, access }: WorkingCopyOptions, signal?: AbortSignal): Promise<void> {
  if (access === 'read-only') return;
  const { isConditional, reason = 'it ignores them' } = await objects.probe(signal);
  if (isConditional) return;
  throw new AppError(
    'E_STORAGE_FAILED',
    `this bucket cannot be written by several servers at once, because its service does not honour conditional writes (${reason}): ` +
      'one server would overwrite what another wrote',
    {
      details: { isConditional: false },
      hint: 'Nothing was done. Use a bucket of another service, or give the agent no sandbox: then it can read the files.',
    },
  );
}
