import { AppError } from '@croft/protocol';
import { temporaryPrefix } from './temporary-prefix.ts';

const maxPathLength = 4096;
const maxNameBytes = 255;

/**
 * Splits a caller's path into names, from the root down. Purely lexical: `a/../b` is `b`, `..hidden` is a name.
 *
 * `roots` are the absolute names of the root. Throws `E_SANDBOX_VIOLATION` for a path that leaves the root and
 * `E_INVALID_PATH` for one that no file can have.
 */
export function toSegments(path: string, roots: readonly string[]): string[] {
  checkCharacters(path);
  const relative = path.startsWith('/') ? belowRoot(path, roots) : path;
  if (relative === undefined) throw outsideRoot(path, 'absolute path');

  const segments: string[] = [];
  for (const name of relative.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') segments.push(checkedName(name));
    else if (segments.pop() === undefined) throw outsideRoot(path, 'path climbs above the root');
  }
  return segments;
}

/** Returns the part of an absolute path below the root, by whole names: `/work-evil` is not below `/work`. */
export function belowRoot(path: string, roots: readonly string[]): string | undefined {
  const clean = normalize(path);
  for (const root of roots) {
    if (clean === root || root === '/') return clean.slice(root.length);
    if (clean.startsWith(`${root}/`)) return clean.slice(root.length + 1);
  }
  return undefined;
}

export function outsideRoot(path: string, rule: string): AppError {
  return new AppError('E_SANDBOX_VIOLATION', `path is outside workspace root: ${path}`, { details: { path, rule } });
}

function checkCharacters(path: string): void {
  if (path.includes('\0')) throw new AppError('E_INVALID_PATH', 'path holds a NUL byte');
  if (!path.isWellFormed()) throw new AppError('E_INVALID_PATH', 'path holds half of a surrogate pair');
  if (path.length > maxPathLength) throw tooLong('path', maxPathLength);
}

function checkedName(name: string): string {
  if (name.startsWith(temporaryPrefix)) {
    throw new AppError('E_INVALID_PATH', `names that begin with ${temporaryPrefix} are for half-written files`);
  }
  if (name.length * 3 > maxNameBytes && Buffer.byteLength(name) > maxNameBytes) throw tooLong('name', maxNameBytes);
  return name;
}

function tooLong(what: string, max: number): AppError {
  return new AppError('E_NAME_TOO_LONG', `${what} is too long, at most ${max}`, { details: { max } });
}

function normalize(absolute: string): string {
  const names: string[] = [];
  for (const name of absolute.split('/')) {
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  return `/${names.join('/')}`;
}

/** The path of a name in a directory of the workspace. The root is the empty path. */
export function pathBelow(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}

/** The directory that has a path of the workspace. */
export function parentPath(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}
