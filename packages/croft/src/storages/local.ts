import { fstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { AppError } from '@croft/protocol';
import type { Durability } from '../core/durability.ts';
import type { Mount } from '../core/mount.ts';
import { createDiskFiles } from '../disk/files.ts';
import { openRoot } from '../disk/handles.ts';
import { goQuote } from '../lib/text/go-quote.ts';

export interface LocalOptions {
  readonly path: string;
  /** What the model sees instead of the directory's own name. */
  readonly root?: string | undefined;
  /** Left out: strict. */
  readonly durability?: Durability | undefined;
}

/** Throws an `Error` for the operator when the directory is not one. */
export function openLocal({ path, root, durability }: LocalOptions): Mount {
  const written = resolve(path);
  const directory = resolveRoot(written);
  const names = [...new Set([directory, written, ...(root === undefined ? [] : [root])])];
  const handle = openRoot(directory);
  return {
    directory,
    handle,
    root: root ?? directory,
    files: createDiskFiles({ handle, names, durability }),
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
    // Below a file, or behind a loop of links: either way there is no such directory.
    return false;
  }
}
