import { chmodSync, lchownSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { removeTree as remove } from '../lib/files/remove-tree.ts';

type Files = Readonly<Record<string, string>>;

/**
 * Fills a new directory with subdirectories that belong to `owner` with all their files, and lets everybody enter it.
 * Synchronous: some trees have thousands of files, and awaiting each would take longer than creating them.
 */
export function makeOwnedTree(
  base: string,
  directories: Readonly<Record<string, Files>>,
  owner: number | undefined,
): string {
  chmodSync(base, 0o755);
  for (const [name, files] of Object.entries(directories)) {
    mkdirSync(join(base, name));
    for (const [path, text] of Object.entries(files)) makeFile(join(base, name, path), text);
    if (owner !== undefined) giveTo(join(base, name), owner);
  }
  return base;
}

/** Files that start with `#!` are executable. */
function makeFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
}

function giveTo(path: string, owner: number): void {
  lchownSync(path, owner, owner);
  if (!lstatSync(path).isDirectory()) return;
  for (const name of readdirSync(path)) giveTo(join(path, name), owner);
}

/** Removes a tree even if programs took away our permission to list a directory, as long as we own it. */
export async function removeOwnedTree(path: string): Promise<void> {
  try {
    await remove(path);
  } catch {
    unlock(path);
    await remove(path);
  }
}

function unlock(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  chmodSync(path, 0o700);
  for (const name of readdirSync(path)) unlock(join(path, name));
}
