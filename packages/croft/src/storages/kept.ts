import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, globSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AppError } from '@croft/protocol';
import type { Mount } from '../core/mount.ts';
import { createDiskFiles } from '../disk/files.ts';
import { openRoot } from '../disk/handles.ts';
import { cacheAt } from '../lib/cache-directory.ts';
import { createKeyedLock } from '../lib/keyed-lock.ts';
import { measureTree } from '../lib/measure-tree.ts';
import { removeTree } from '../lib/remove-tree.ts';
import { sha256 } from '../lib/sha256.ts';
import { makeParentDirectory, makeWorkspaceDirectory } from '../lib/workspace-directory.ts';
import { realpathOr } from '../lib/workspace-owner.ts';

/** By what a workspace is kept under: the same for every agent of the account, and no other account's. */
export function namespaceOf(accountId: string, workspaceId: string): string {
  return `fs-${sha256(`filesystem-namespace\0${accountId}:${workspaceId}`).slice(0, 40)}`;
}

const dayMs = 86_400_000;

export type KeptWorkspaces = ReturnType<typeof createKeptWorkspaces>;

/** Those of them that show what another was, and whose files are not where they are seen. */
export interface KeptForks {
  /** Makes sure that they are seen there. */
  ensure(namespace: string): void;
  remove(namespace: string): Promise<void>;
}

interface Opened {
  readonly handle: number;
  readonly locks: ReturnType<typeof createKeyedLock>;
}

/** Workspaces that the server keeps in its data directory, made on first use. */
export function createKeptWorkspaces(data: string, forks?: KeptForks, caches = join(data, 'caches')) {
  const parent = join(data, 'workspaces');
  const removed = createRemoved();
  const opened = new Map<string, Opened>();

  return {
    /** `name` is what the agent calls it. */
    open: (namespace: string, name: string): Mount =>
      toMount(join(parent, namespace), opened.get(namespace) ?? remember(namespace), name),
    directoryOf: (namespace: string): string => join(parent, namespace),
    /** Where somebody else is about to make one. Throws `E_ALREADY_EXISTS` where anything is, be it a link. */
    siteOf: (namespace: string): string => siteIn(parent, namespace),
    /** If it is there: none is made. */
    find(namespace: string): Mount | undefined {
      const known = opened.get(namespace);
      // It was removed by somebody else, and another may be there by now.
      if (known && fstatSync(known.handle).nlink === 0) forget(namespace);
      const directory = join(parent, namespace);
      const isThere = lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() ?? false;
      return isThere ? toMount(directory, opened.get(namespace) ?? remember(namespace), namespace) : undefined;
    },
    /** Takes away what a server left behind that was killed: no sandbox without a workspace lives for a day. */
    sweepScratch: (now: number): void => sweepScratch(data, now),
    /** An empty one that is gone when it is let go of. */
    openScratch: (name: string): Mount & Disposable => openScratch(data, name),
    /** How many bytes of the disk they take up together. */
    async measure(namespaces: readonly string[]): Promise<number> {
      const directories = namespaces.map((namespace) => join(parent, namespace));
      const all = [...directories, ...directories.map((path) => cacheOf(caches, path))];
      const sizes = await Promise.all(all.map((path) => measureTree(path)));
      return sizes.reduce((total, size) => total + size, 0);
    },
    /** Whether there is anything in it. It is not made for that. */
    hasFiles: (namespace: string): boolean => hasEntries(join(parent, namespace)),
    /** With all its files. Answers whether there was one. */
    async remove(namespace: string): Promise<boolean> {
      const directory = join(parent, namespace);
      const isThere = lstatSync(directory, { throwIfNoEntry: false }) !== undefined;
      forget(namespace);
      await forks?.remove(namespace);
      await removeTree(directory);
      await removeTree(cacheOf(caches, directory));
      return isThere;
    },
    /** To be called from time to time: closes what was gone the last time already. */
    closeGone(): void {
      for (const [namespace, { handle }] of opened) if (fstatSync(handle).nlink === 0) forget(namespace);
      removed.close();
    },
    /** The same for those alone that were removed from here. */
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
    const known = { handle: openRoot(makeWorkspaceDirectory(parent, namespace)), locks: createKeyedLock() };
    opened.set(namespace, known);
    return known;
  }
}

/** Handles of workspaces that were removed, until no call can be left that has one of these numbers. */
function createRemoved() {
  let [gone, goneLonger]: [number[], number[]] = [[], []];
  return {
    add: (handle: number) => void gone.push(handle),
    close(): void {
      for (const handle of goneLonger) closeSync(handle);
      [gone, goneLonger] = [[], gone];
    },
  };
}

function siteIn(parent: string, namespace: string): string {
  const directory = join(parent, namespace);
  if (lstatSync(directory, { throwIfNoEntry: false }))
    throw new AppError('E_ALREADY_EXISTS', 'there is a workspace of that namespace already');
  makeParentDirectory(parent);
  return directory;
}

function toMount(directory: string, { handle, locks }: Opened, name: string): Mount {
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

function hasEntries(directory: string): boolean {
  return lstatSync(directory, { throwIfNoEntry: false }) !== undefined && readdirSync(directory).length > 0;
}

function openScratch(data: string, name: string): Mount & Disposable {
  const directory = makeWorkspaceDirectory(join(data, 'scratch'), `fs-${randomBytes(20).toString('hex')}`);
  const handle = openRoot(directory);
  const root = `/workspaces/${name}`;
  return {
    ...{ directory, handle, root, files: createDiskFiles({ handle, names: [root], durability: 'relaxed' }) },
    mustBeThere() {},
    [Symbol.dispose]() {
      closeSync(handle);
      rmSync(directory, { recursive: true, force: true });
      // What cannot be taken away is the operator's to see to.
      void removeTree(cacheOf(join(data, 'caches'), directory)).catch(() => {});
    },
  };
}

/** What commands keep there is as much the account's as its files. */
function cacheOf(caches: string, directory: string): string {
  return cacheAt(caches, join(realpathOr(dirname(directory)), basename(directory)));
}
