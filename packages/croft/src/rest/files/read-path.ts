import { AppError } from '@croft/protocol';

const maxLength = 4096;
const plainPath =
  'Write the path from the root of the workspace, such as src/a.ts: without . or .. and with single slashes between names.';

/**
 * Accepts only the one canonical way to write a path: names from the root, without `.`, `..` or extra slashes. So the
 * audit trail, a file link and the request always mean the same file.
 */
export function readPath(text: string | undefined): string {
  if (text === undefined || text === '')
    throw new AppError('E_INVALID_INPUT', 'path is required', { details: { arguments: ['path'] } });
  const names = text.split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..'))
    throw invalid('Invalid workspace file path', plainPath);
  if (text.includes('\0') || !text.isWellFormed())
    throw invalid('Invalid workspace file path: no file has such a name', 'Leave out NUL bytes and half characters.');
  if (text.length > maxLength)
    throw invalid(`Invalid workspace file path: longer than ${maxLength}`, 'Use a shorter path.');
  return text;
}

/** Reads the path of a directory; an empty path is the root. */
export function readDirectory(text: string | undefined): string {
  return text === undefined || text === '' ? '' : readPath(text);
}

function invalid(message: string, hint: string): AppError {
  return new AppError('E_INVALID_PATH', message, { details: { argument: 'path' }, hint });
}
