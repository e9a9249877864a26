import type { TreePath } from '../../core/history/tree.ts';
import { temporaryPrefix } from '../../core/temporary.ts';
import { bytesFromPath, pathFromBytes } from '../../lib/path-bytes.ts';

/** What S3 allows, less some room for a prefix and the namespace. */
const maxKeyBytes = 900;
const maxNameBytes = 255;

// A byte that is no UTF-8 (a lone surrogate in a path), a control character or one that XML cannot carry, and the sign
// itself: what listings would not bring back as it was.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const unsafe = /%(?=\{)|[\u0000-\u001f\u007f\ufffe\uffff]|[\ud800-\udfff]/gu;
const escaped = /(?:%\{[0-9a-f]{2}\})+/g;

/**
 * The key of a path below the namespace: the path itself, so that any S3 tool shows the names people know. A byte that
 * cannot be in a key is `%{hh}`. `undefined` for what is too long to be one.
 */
export function keyOf(path: TreePath): string | undefined {
  const key = path.replace(unsafe, toEscape);
  return Buffer.byteLength(key) > maxKeyBytes ? undefined : key;
}

/** `undefined` for a key that no file of a workspace has: it must never reach a disk. One path has one key. */
export function pathOf(key: string): TreePath | undefined {
  if (!key.isWellFormed()) return undefined;
  const path = key.replace(escaped, fromEscape);
  return isPath(path) && keyOf(path) === key ? path : undefined;
}

/** Of an empty directory, or of one with a mode of its own: the marker that says it is there. */
export function markerOf(key: string): string {
  return `${key}/`;
}

export function isMarker(key: string): boolean {
  return key.endsWith('/');
}

/** The path that a key, of a file or of a marker, is about. */
export function pathOfAny(key: string): TreePath | undefined {
  return pathOf(isMarker(key) ? key.slice(0, -1) : key);
}

/** The directories a path is in, outermost first, without the root. */
export function ancestorsOf(path: TreePath): TreePath[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}

function toEscape(character: string): string {
  const bytes = character.isWellFormed() ? Buffer.from(character) : bytesFromPath(character);
  return [...bytes].map((byte) => `%{${byte.toString(16).padStart(2, '0')}}`).join('');
}

function fromEscape(run: string): string {
  return pathFromBytes(Buffer.from(run.replaceAll(/[%{}]/g, ''), 'hex'));
}

function isPath(path: string): boolean {
  return !path.includes('\0') && path.split('/').every(isName);
}

function isName(name: string): boolean {
  if (name === '' || name === '.' || name === '..' || name.startsWith(temporaryPrefix)) return false;
  return bytesFromPath(name).length <= maxNameBytes;
}
