import { AppError } from '@croft/protocol';

export function fileNotFound(path: string): AppError {
  return new AppError('E_FILE_NOT_FOUND', `no such file or directory: ${path}`, { details: { path } });
}

export function fileTooLarge(path: string, size: number, max: number): AppError {
  return new AppError('E_TOO_LARGE', `file is too large: ${path} (${size} bytes, at most ${max})`, {
    details: { path, size, max },
  });
}

export function notADirectory(path: string): AppError {
  return new AppError('E_NOT_A_DIRECTORY', `a part of the path is not a directory: ${path}`, { details: { path } });
}

export function linkLoop(path: string): AppError {
  return new AppError('E_LINK_LOOP', `too many links: ${path}`, { details: { path } });
}

export function danglingLink(path: string): AppError {
  return new AppError('E_DANGLING_LINK', `a link on the path leads to nothing: ${path}`, { details: { path } });
}
