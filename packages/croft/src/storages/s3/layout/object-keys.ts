import { temporaryPrefix } from '../../../core/files/temporary-prefix.ts';
import type { TreePath } from '../../../core/history/ports/tree.ts';
import { bytesFromPath, pathFromBytes } from '../../../lib/files/path-bytes.ts';

/** The limit of S3 (1024), less some bytes for a prefix and the namespace. */
const maxKeyBytes = 900;
const maxNameBytes = 255;

// Characters that a listing would not return unchanged: a byte that is not UTF-8 (a lone surrogate in a path), a
// control character, a character that XML cannot carry, and the escape sign `%{` itself.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const unsafe = /%(?=\{)|[\u0000-\u001f\u007f\ufffe\uffff]|[\ud800-\udfff]/gu;
const escaped = /(?:%\{[0-9a-f]{2}\})+/g;

/**
 * The key of a path, below the namespace. The key is the path itself, so that any S3 tool shows the names people know;
 * a byte that cannot be in a key becomes `%{hh}`. `undefined` if the key would be too long.
 */
export function keyOfPath(path: TreePath): string | undefined {
  const key = path.replace(unsafe, toEscape);
  return Buffer.byteLength(key) > maxKeyBytes ? undefined : key;
}

/**
 * The path of a key. `undefined` for a key that no file of a workspace can have: it must never reach a disk. Each path
 * has exactly one key.
 */
export function pathOfKey(key: string): TreePath | undefined {
  if (!key.isWellFormed()) return undefined;
  const path = key.replace(escaped, fromEscape);
  return isPath(path) && keyOfPath(path) === key ? path : undefined;
}

/** The key of the marker object of a directory that is empty or has a mode of its own. */
export function markerOfKey(key: string): string {
  return `${key}/`;
}

export function isMarker(key: string): boolean {
  return key.endsWith('/');
}

/** The path that belongs to the key of a file or of a marker. */
export function pathOfFileOrMarker(key: string): TreePath | undefined {
  return pathOfKey(isMarker(key) ? key.slice(0, -1) : key);
}

/** The directories that contain a path, outermost first, without the root. */
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
