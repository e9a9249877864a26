import { linkSync } from 'node:fs';
import { AppError } from '@croft/protocol';
import { errnoOf } from './errors.ts';

/**
 * Gives a file a second name, which fails where a rename would replace: `E_ALREADY_EXISTS` for `path`, as the caller
 * wrote it. False on a file system without hard links, or for a file that may not have one.
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
