import { AppError } from '@croft/protocol';
import { sha256 } from '../../lib/crypto/sha256.ts';
import type { Files } from '../files/files.ts';
import { ignorePathError } from './ignore-path-error.ts';
import { syncLimits } from './skills-source.ts';

/** The state of a path: absent, a file with a hash, or something that the sync must not touch. */
export type PathState =
  | { readonly kind: 'absent' }
  | { readonly kind: 'file'; readonly hash: string; readonly version: string }
  | { readonly kind: 'foreign'; readonly reason: string };

/** Inspects paths below one directory. A path that involves a link is foreign: the link may lead anywhere. */
export function createPathInspector(files: Files) {
  const plain = new Map<string, Promise<boolean>>();

  /** Whether a path is a directory without links, or does not exist yet. */
  function isPlain(directory: string): Promise<boolean> {
    const known = plain.get(directory) ?? inspectOne(directory);
    plain.set(directory, known);
    return known;
  }

  async function inspectOne(directory: string): Promise<boolean> {
    const parent = directory.slice(0, Math.max(directory.lastIndexOf('/'), 0));
    if (parent !== '' && !(await isPlain(parent))) return false;
    const found = await files.stat(directory).catch(absentIfNotFound);
    return found === 'absent' || (found?.kind === 'directory' && found.path === directory);
  }

  /** Inspects a path without a file. A link that leads nowhere, or out, still exists. */
  async function findOther(path: string): Promise<PathState> {
    const found = await files.stat(path).catch(absentIfNotFound);
    if (found === 'absent') return { kind: 'absent' };
    // A file that appeared meanwhile: another sync is at work.
    return found?.kind === 'file' && found.path === path ? inspect(path) : notAFile;
  }

  return inspect;

  async function inspect(path: string): Promise<PathState> {
    if (!(await isPlain(path.slice(0, path.lastIndexOf('/')))))
      return { kind: 'foreign', reason: 'a parent of it is a link or not a directory' };
    const found = await files.version(path).catch((thrown) => ignorePathError(thrown) ?? unreadable);
    if (found === undefined) return findOther(path);
    if (found === unreadable || found.path !== path) return notAFile;
    const hash = await contentHash(files, path, found.version);
    return hash === undefined
      ? { kind: 'foreign', reason: 'it is too large' }
      : { kind: 'file', hash, version: found.version };
  }
}

const unreadable = 'unreadable' as const;
const notAFile: PathState = { kind: 'foreign', reason: 'the path exists, but is not a regular file' };

function absentIfNotFound(thrown: unknown): 'absent' | undefined {
  if (AppError.is(thrown) && thrown.code === 'E_FILE_NOT_FOUND') return 'absent';
  return ignorePathError(thrown);
}

/** Returns the SHA-256 of a file, which most storages use as its version. `undefined` if it is too large. */
export async function contentHash(files: Files, path: string, version: string): Promise<string | undefined> {
  if (/^[0-9a-f]{64}$/.test(version)) return version;
  const content = await files.read(path, { maxBytes: syncLimits.fileBytes }).catch((thrown) => {
    if (AppError.is(thrown) && thrown.code === 'E_TOO_LARGE') return undefined;
    throw thrown;
  });
  return content && sha256(content.bytes);
}
