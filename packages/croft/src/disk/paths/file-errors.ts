import { AppError, type ErrorCode } from '@croft/protocol';

/** Our error for each errno. A message contains no errno, syscall or absolute path. */
const errorsByErrno: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ENOENT: ['E_FILE_NOT_FOUND', 'no such file or directory'],
  ENOTDIR: ['E_NOT_A_DIRECTORY', 'a part of the path is not a directory'],
  EISDIR: ['E_NOT_A_FILE', 'path is a directory'],
  ELOOP: ['E_LINK_LOOP', 'too many links'],
  ENAMETOOLONG: ['E_NAME_TOO_LONG', 'name is too long'],
  EACCES: ['E_PERMISSION_DENIED', 'permission denied'],
  EPERM: ['E_PERMISSION_DENIED', 'not permitted'],
  EROFS: ['E_PERMISSION_DENIED', 'the file system is read-only'],
  EEXIST: ['E_ALREADY_EXISTS', 'already exists'],
  ENOTEMPTY: ['E_DIRECTORY_NOT_EMPTY', 'directory is not empty'],
  ENOSPC: ['E_STORAGE_FULL', 'no space left'],
  EDQUOT: ['E_STORAGE_FULL', 'disk quota exceeded'],
  EFBIG: ['E_TOO_LARGE', 'file is too large'],
  EXDEV: ['E_INVALID_INPUT', 'it cannot move to another file system; copy it there and delete it here'],
  EMFILE: ['E_STORAGE_FAILED', 'too many open files'],
  ENFILE: ['E_STORAGE_FAILED', 'too many open files'],
};

/** `path` is the path as the caller wrote it. */
export function fileError(thrown: unknown, path: string): AppError {
  if (AppError.is(thrown)) return thrown;
  const [code, reason] = errorsByErrno[errnoOf(thrown) ?? ''] ?? ['E_STORAGE_FAILED', 'the file system failed'];
  return new AppError(code, `${reason}: ${path}`, { details: { path }, cause: thrown });
}

export function errnoOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
}
