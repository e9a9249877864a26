import { join } from 'node:path';
import { makeParentDirectory } from '../lib/files/make-workspace-directory.ts';
import { readFileIfPresent, replacePrivateFile } from '../lib/files/private-file.ts';

/**
 * The id of the directory with the workspaces of a server, made once. It lies beside the workspaces: servers that share
 * the directory, as on a network file system, have the same id, and a directory that was moved keeps it.
 */
export function readDataDirectoryId(data: string): string {
  const parent = join(data, 'workspaces');
  const file = join(parent, '.directory-id');
  const known = readFileIfPresent(file)?.trim();
  if (known) return known;
  makeParentDirectory(parent);
  replacePrivateFile(file, `dir_${crypto.randomUUID()}\n`, 'if-absent');
  return readFileIfPresent(file)?.trim() ?? '';
}
