import { chmodSync, lchownSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

type Files = Readonly<Record<string, string>>;

/**
 * A new directory that everybody may enter, with other directories in it that belong to `owner` with all their files.
 * All at once: some trees have thousands of files, and a turn for each would take longer than they do.
 */
export function makeTree(
  prefix: string,
  directories: Readonly<Record<string, Files>>,
  owner: number | undefined,
): string {
  const base = mkdtempSync(prefix);
  chmodSync(base, 0o755);
  for (const [name, files] of Object.entries(directories)) {
    mkdirSync(join(base, name));
    for (const [path, text] of Object.entries(files)) makeFile(join(base, name, path), text);
    if (owner !== undefined) giveTo(join(base, name), owner);
  }
  return base;
}

/** What begins like a script can be run. */
function makeFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
}

function giveTo(path: string, owner: number): void {
  lchownSync(path, owner, owner);
  if (!lstatSync(path).isDirectory()) return;
  for (const name of readdirSync(path)) giveTo(join(path, name), owner);
}

/** Also where somebody took our right to look into a directory, as long as it is ours to take back. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await unlock(path);
    await rm(path, { recursive: true, force: true });
  }
}

async function unlock(path: string): Promise<void> {
  if (!(await lstat(path)).isDirectory()) return;
  await chmod(path, 0o700);
  for (const name of await readdir(path)) await unlock(join(path, name));
}
