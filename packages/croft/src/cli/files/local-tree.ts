import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { lstat, mkdir, open, opendir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '@croft/protocol';
import { newRandomName } from '../../lib/ids.ts';

/** A file of this machine, by its path below the directory that is synced. */
export interface LocalFile {
  readonly path: string;
  readonly size: number;
}

export interface LocalTree {
  readonly files: ReadonlyMap<string, LocalFile>;
  /** Links, sockets and names that are no text: nothing of them is read. */
  readonly skipped: readonly string[];
}

/** Lists the files below a directory. Links are not followed, and directories of the given names are left out. */
export async function readLocalTree(root: string, exclude: ReadonlySet<string>): Promise<LocalTree> {
  const [files, skipped]: [Map<string, LocalFile>, string[]] = [new Map(), []];
  for await (const path of listLocal(root, '', exclude)) {
    const found = await lstat(join(root, path)).catch(() => undefined);
    // A name with U+FFFD is no text, and would name another file on the server.
    if (!found?.isFile() || /[\ufffd\\]/.test(path)) skipped.push(path);
    else files.set(path, { path, size: found.size });
  }
  return { files, skipped };
}

async function* listLocal(root: string, folder: string, exclude: ReadonlySet<string>): AsyncGenerator<string> {
  for await (const entry of await opendir(join(root, folder))) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (exclude.has(entry.name)) continue;
    if (entry.isDirectory()) yield* listLocal(root, path, exclude);
    else yield path;
  }
}

/** The ETag that the server gives the same bytes. */
export async function hashLocalFile(root: string, path: string): Promise<string> {
  const hash = createHash('sha256');
  const file = await open(join(root, path), constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    for await (const piece of createReadStream('', { fd: file.fd, autoClose: false })) hash.update(piece);
  } finally {
    await file.close();
  }
  return `"${hash.digest('hex')}"`;
}

/** Writes a file whole or not at all. No folder on the way to it may be a link, and a link of its name is replaced. */
export async function writeLocalFile(root: string, path: string, body: AsyncIterable<Uint8Array>): Promise<void> {
  await makeFolders(root, dirname(path));
  const target = join(root, path);
  const temporary = join(dirname(target), newRandomName('.croft'));
  try {
    const file = await open(temporary, 'wx', 0o666);
    try {
      for await (const piece of body) await file.write(piece);
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (thrown) {
    await rm(temporary, { force: true });
    throw thrown;
  }
}

/** Removes a file, unless a folder on the way to it is a link. */
export async function removeLocalFile(root: string, path: string): Promise<void> {
  await makeFolders(root, dirname(path));
  await rm(join(root, path), { force: true });
}

async function makeFolders(root: string, folder: string): Promise<void> {
  const names = folder === '.' ? [] : folder.split('/');
  for (const [index] of names.entries()) {
    const path = join(root, ...names.slice(0, index + 1));
    await mkdir(path).catch((thrown) => {
      if (thrown.code !== 'EEXIST') throw thrown;
    });
    if (!(await lstat(path)).isDirectory())
      throw new AppError(
        'E_NOT_A_DIRECTORY',
        `${path} is no directory or a link to one; files are not written through links`,
      );
  }
}
