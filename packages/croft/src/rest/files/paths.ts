import { AppError } from '@croft/protocol';

const maxLength = 4096;

/**
 * The path of a file as it is written in one way only: names from the root, no `.`, no `..`, no slash too many. What the
 * records keep of it and what a link is good for are then the same file.
 */
export function readPath(text: string | undefined): string {
  if (text === undefined || text === '')
    throw new AppError('E_INVALID_INPUT', 'path is required', { details: { arguments: ['path'] } });
  const names = text.split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..')) throw invalid('Invalid workspace file path');
  if (text.includes('\0') || !text.isWellFormed())
    throw invalid('Invalid workspace file path: no file has such a name');
  if (text.length > maxLength) throw invalid(`Invalid workspace file path: longer than ${maxLength}`);
  return text;
}

/** The same, where nothing stands for the root. */
export function readDirectory(text: string | undefined): string {
  return text === undefined || text === '' ? '' : readPath(text);
}

function invalid(message: string): AppError {
  return new AppError('E_INVALID_PATH', message, { details: { argument: 'path' } });
}
