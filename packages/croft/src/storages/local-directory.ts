import { fstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { AppError } from '@croft/protocol';
import type { Durability } from '../core/storage/durability.ts';
import type { WorkspaceMount } from '../core/storage/workspace-mount.ts';
import { findObeyedPaths } from '../disk/control-files/find-obeyed-paths.ts';
import { createDiskFiles } from '../disk/disk-files.ts';
import { openRoot } from '../disk/paths/handles.ts';
import { goQuote } from '../lib/text/go-quote.ts';

export interface LocalDirectoryOptions {
  readonly path: string;
  /** The root that the model sees instead of the directory's own path. */
  readonly root?: string | undefined;
  /** Defaults to `strict`. */
  readonly durability?: Durability | undefined;
  /** Names of control files that tools may change. Defaults to none. */
  readonly allowControl?: readonly string[] | undefined;
}

/** Throws an `Error` with a message for the operator if the path is not a directory. */
export function openLocalDirectory({ path, root, durability, allowControl }: LocalDirectoryOptions): WorkspaceMount {
  const written = resolve(path);
  const directory = resolveRoot(written);
  const names = [...new Set([directory, written, ...(root === undefined ? [] : [root])])];
  const handle = openRoot(directory);
  const searched = { handle, names };
  return {
    directory,
    handle,
    root: root ?? directory,
    files: createDiskFiles({ handle, names, durability, allowControl }),
    prepareChanges: () => void findObeyedPaths(searched).catch(() => {}),
    mustBeThere() {
      if (fstatSync(handle).nlink === 0)
        throw new AppError('E_WORKSPACE_GONE', 'the directory of this workspace was deleted');
    },
  };
}

function resolveRoot(path: string): string {
  if (!exists(path)) throw new Error(`resolve workspace root: lstat ${firstMissing(path)}: no such file or directory`);
  const directory = realpathSync(path);
  if (!statSync(directory).isDirectory()) throw new Error(`workspace root is not a directory: ${goQuote(directory)}`);
  return directory;
}

function firstMissing(path: string): string {
  const parent = dirname(path);
  return parent === path || exists(parent) ? path : firstMissing(parent);
}

function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'EACCES')
      throw new Error(`resolve workspace root: lstat ${path}: permission denied`);
    // The path is below a file or behind a loop of links: in both cases there is no such directory.
    return false;
  }
}
