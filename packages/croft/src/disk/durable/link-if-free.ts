import { linkSync } from 'node:fs';
import { AppError } from '@croft/protocol';
import { errnoOf } from '../paths/file-errors.ts';

/**
 * Creates a hard link, which fails if the name is taken, unlike a rename: `E_ALREADY_EXISTS` for `path`, the path as
 * the caller wrote it. Returns false if the file system or the file does not allow hard links.
 */
export function linkIfFree(file: string, name: string, path: string): boolean {
  try {
    linkSync(file, name);
    return true;
  } catch (thrown) {
    const errno = errnoOf(thrown) ?? '';
    if (errno === 'EEXIST') throw alreadyExists(path);
    if (['EPERM', 'ENOSYS', 'ENOTSUP', 'EMLINK'].includes(errno)) return false;
    throw thrown;
  }
}

export function alreadyExists(path: string): AppError {
  return new AppError('E_ALREADY_EXISTS', `already exists: ${path}`, { details: { path } });
}
