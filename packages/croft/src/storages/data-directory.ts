import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, globSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AppError } from '@croft/protocol';
import type { WorkspaceMount } from '../core/storage/workspace-mount.ts';
import { createDiskFiles } from '../disk/disk-files.ts';
import { fileError } from '../disk/paths/file-errors.ts';
import { openRoot } from '../disk/paths/handles.ts';
import { createKeyedLock } from '../lib/concurrency/keyed-lock.ts';
import { sha256 } from '../lib/crypto/sha256.ts';
import { cacheDirectoryFor } from '../lib/files/cache-directory.ts';
import { makeParentDirectory, makeWorkspaceDirectory } from '../lib/files/make-workspace-directory.ts';
import { removeTree } from '../lib/files/remove-tree.ts';
import { realpathOrSelf } from '../lib/files/workspace-owner.ts';

/**
 * The directory name (or key prefix) under which a workspace is stored: the same for every agent of the account, and
 * different for every other account.
 */
export function namespaceOf(accountId: string, workspaceId: string): string {
  return `fs-${sha256(`filesystem-namespace\0${accountId}:${workspaceId}`).slice(0, 40)}`;
}

const dayMs = 86_400_000;

export type DataDirectory = ReturnType<typeof createDataDirectory>;

/** Forks among these workspaces. Their directories are overlays, so their files are stored elsewhere. */
export interface DataDirectoryForks {
  /** Mounts the overlay of this fork if it is not mounted. */
  ensure(namespace: string): void;
  remove(namespace: string): Promise<void>;
}

interface OpenedDirectory {
  readonly handle: number;
  readonly locks: ReturnType<typeof createKeyedLock>;
}

/** The workspaces in the server's data directory. Each is created on first use. */
export function createDataDirectory(data: string, forks?: DataDirectoryForks, caches = join(data, 'caches')) {
  const parent = join(data, 'workspaces');
  const removed = createRemovedHandles();
  const opened = new Map<string, OpenedDirectory>();

  return {
    /** `name` is the agent's name for the workspace. */
    open: (namespace: string, name: string): WorkspaceMount =>
      toMount(join(parent, namespace), opened.get(namespace) ?? remember(namespace), name),
    directoryOf: (namespace: string): string => join(parent, namespace),
    /**
     * The path at which the caller is about to create a workspace. Throws `E_ALREADY_EXISTS` if anything is there, even
     * a link.
     */
    siteOf: (namespace: string): string => freePathIn(parent, namespace),
    /** The workspace if it exists. Creates nothing. */
    find(namespace: string): WorkspaceMount | undefined {
      const known = opened.get(namespace);
      // Another process removed the directory, and a new one may have taken its name.
      if (known && fstatSync(known.handle).nlink === 0) forget(namespace);
      const directory = join(parent, namespace);
      const isThere = lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() ?? false;
      return isThere ? toMount(directory, opened.get(namespace) ?? remember(namespace), namespace) : undefined;
    },
    /** Removes scratch workspaces that a killed server left behind. No scratch workspace lives longer than a day. */
    sweepScratch: (now: number): void => sweepScratch(data, now),
    /** Opens an empty workspace that is removed when it is disposed. */
    openScratch: (name: string): WorkspaceMount & Disposable => openScratch(data, name),
    /** Whether the workspace exists and is not empty. Creates nothing. */
    hasFiles: (namespace: string): boolean => hasFiles(join(parent, namespace)),
    /** Removes the workspace with all its files and its package cache. Returns whether it existed. */
    async remove(namespace: string): Promise<boolean> {
      const directory = join(parent, namespace);
      const isThere = lstatSync(directory, { throwIfNoEntry: false }) !== undefined;
      forget(namespace);
      await forks?.remove(namespace);
      await removeTree(directory);
      await removeTree(cacheOf(caches, directory));
      return isThere;
    },
    /** Closes the handles of workspaces that were already gone at the previous call. Call it periodically. */
    closeGone(): void {
      for (const [namespace, { handle }] of opened) if (fstatSync(handle).nlink === 0) forget(namespace);
      removed.close();
    },
    /** Like `closeGone`, but only for workspaces that this object removed. */
    closeRemoved: removed.close,
    close(): void {
      for (const { handle } of opened.values()) closeSync(handle);
      opened.clear();
    },
  };

  function forget(namespace: string): void {
    const known = opened.get(namespace);
    if (known) removed.add(known.handle);
    opened.delete(namespace);
  }

  function remember(namespace: string) {
    forks?.ensure(namespace);
    const known = { handle: openRoot(makeDirectory(parent, namespace)), locks: createKeyedLock() };
    opened.set(namespace, known);
    return known;
  }
}

/** Holds the handles of removed workspaces until no running call can still use their numbers. */
function createRemovedHandles() {
  let [gone, goneLonger]: [number[], number[]] = [[], []];
  return {
    add: (handle: number) => void gone.push(handle),
    close(): void {
      for (const handle of goneLonger) closeSync(handle);
      [gone, goneLonger] = [[], gone];
    },
  };
}

function freePathIn(parent: string, namespace: string): string {
  const directory = join(parent, namespace);
  if (lstatSync(directory, { throwIfNoEntry: false }))
    throw new AppError('E_ALREADY_EXISTS', 'there is a workspace of that namespace already');
  makeParentDirectory(parent);
  return directory;
}

function toMount(directory: string, { handle, locks }: OpenedDirectory, name: string): WorkspaceMount {
  const root = `/workspaces/${name}`;
  return {
    ...{ directory, handle, root, files: createDiskFiles({ handle, names: [root], locks }) },
    mustBeThere() {
      if (fstatSync(handle).nlink === 0)
        throw new AppError('E_WORKSPACE_GONE', 'the directory of this workspace was deleted');
    },
  };
}

function sweepScratch(data: string, now: number): void {
  for (const directory of globSync(join(data, 'scratch', 'fs-*'))) {
    const stats = lstatSync(directory, { throwIfNoEntry: false });
    if (stats && now - stats.mtimeMs > dayMs) rmSync(directory, { recursive: true, force: true });
  }
}

function hasFiles(directory: string): boolean {
  return lstatSync(directory, { throwIfNoEntry: false }) !== undefined && readdirSync(directory).length > 0;
}

function openScratch(data: string, name: string): WorkspaceMount & Disposable {
  const directory = makeDirectory(join(data, 'scratch'), `fs-${randomBytes(20).toString('hex')}`);
  const handle = openRoot(directory);
  const root = `/workspaces/${name}`;
  return {
    ...{ directory, handle, root, files: createDiskFiles({ handle, names: [root], durability: 'relaxed' }) },
    mustBeThere() {},
    [Symbol.dispose]() {
      closeSync(handle);
      rmSync(directory, { recursive: true, force: true });
      // A cache that cannot be removed is left for the operator.
      void removeTree(cacheOf(join(data, 'caches'), directory)).catch(() => {});
    },
  };
}

/** The package cache of a workspace. It belongs to the account as much as the files do. */
function cacheOf(caches: string, directory: string): string {
  return cacheDirectoryFor(caches, join(realpathOrSelf(dirname(directory)), basename(directory)));
}

/** Throws `E_STORAGE_FULL` on a full disk: a new directory needs a block. */
function makeDirectory(parent: string, namespace: string): string {
  try {
    return makeWorkspaceDirectory(parent, namespace);
  } catch (thrown) {
    throw fileError(thrown, 'the directory of a new workspace');
  }
}
