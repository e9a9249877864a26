import { AppError } from '@croft/protocol';
import type { Client } from '@croft/sdk';
import { joinPath, staysBelow } from './file-location.ts';

export type WorkspaceFiles = ReturnType<Client['files']>;

/** A file of a workspace, by its path below the folder that is synced. */
export interface WorkspaceFile {
  readonly path: string;
  readonly size: number;
  /** Left out for large files, which the server does not hash for a list. */
  readonly etag: string | undefined;
  readonly isExecutable: boolean;
}

export interface WorkspaceTree {
  readonly files: ReadonlyMap<string, WorkspaceFile>;
  /** Links and other things that are no files. */
  readonly skipped: readonly string[];
}

/** Lists the files below a folder of a workspace. */
export async function readWorkspaceTree(
  files: WorkspaceFiles,
  folder: string,
  exclude: ReadonlySet<string>,
): Promise<WorkspaceTree> {
  const [found, skipped]: [Map<string, WorkspaceFile>, string[]] = [new Map(), []];
  for await (const { path: whole, kind, sizeBytes = 0, etag, mode = '' } of files.all({
    path: folder,
    recursive: true,
    etags: true,
  })) {
    const path = folder === '' ? whole : whole.slice(folder.length + 1);
    if (path.split('/').some((name) => exclude.has(name))) continue;
    if (kind === 'file' && !staysBelow(path))
      throw new AppError('E_INVALID_PATH', `the server has a file that cannot be here: ${JSON.stringify(path)}`);
    if (kind === 'file') found.set(path, { path, size: sizeBytes, etag, isExecutable: /[1357]/.test(mode) });
    else if (kind !== 'directory') skipped.push(path);
  }
  return { files: found, skipped };
}

/**
 * Whether a file of the workspace has these bytes: by its listed ETag or, if that differs, by a request for its current
 * one.
 */
export async function hasContent(
  files: WorkspaceFiles,
  folder: string,
  file: WorkspaceFile,
  etag: string,
): Promise<boolean> {
  if (file.etag !== undefined) return file.etag === etag;
  const { isSame, body } = await files.download(joinPath(folder, file.path), { ifNoneMatch: etag });
  await body.cancel();
  return isSame;
}
