import { AppError } from '@croft/protocol';
import { sha256 } from '../../lib/sha256.ts';
import type { Files } from '../files.ts';
import { passOver } from './passed-over.ts';
import { syncLimits } from './source.ts';

/** What is at a path: nothing, a file by what it holds, or something that is not ours to touch. */
export type Seen =
  | { readonly kind: 'absent' }
  | { readonly kind: 'file'; readonly hash: string; readonly version: string }
  | { readonly kind: 'foreign'; readonly reason: string };

/** Looks at paths below one directory. Whatever a link has to do with is foreign: it may lead to anything. */
export function createLook(files: Files) {
  const plain = new Map<string, Promise<boolean>>();

  /** A directory in its own place, or none yet. */
  function isPlain(directory: string): Promise<boolean> {
    const known = plain.get(directory) ?? lookAt(directory);
    plain.set(directory, known);
    return known;
  }

  async function lookAt(directory: string): Promise<boolean> {
    const parent = directory.slice(0, Math.max(directory.lastIndexOf('/'), 0));
    if (parent !== '' && !(await isPlain(parent))) return false;
    const found = await files.stat(directory).catch(ifAbsent);
    return found === 'absent' || (found?.kind === 'directory' && found.path === directory);
  }

  /** Where no file was. A link that leads nowhere, or out, is there all the same. */
  async function lookForOther(path: string): Promise<Seen> {
    const found = await files.stat(path).catch(ifAbsent);
    if (found === 'absent') return { kind: 'absent' };
    // One that came meanwhile: somebody else is at the same work.
    return found?.kind === 'file' && found.path === path ? look(path) : notAFile;
  }

  return look;

  async function look(path: string): Promise<Seen> {
    if (!(await isPlain(path.slice(0, path.lastIndexOf('/')))))
      return { kind: 'foreign', reason: 'what is on the way to it is not a directory' };
    const found = await files.version(path).catch((thrown) => passOver(thrown) ?? unreadable);
    if (found === undefined) return lookForOther(path);
    if (found === unreadable || found.path !== path) return notAFile;
    const hash = await hashOf(files, path, found.version);
    return hash === undefined
      ? { kind: 'foreign', reason: 'it is too large' }
      : { kind: 'file', hash, version: found.version };
  }
}

const unreadable = 'unreadable' as const;
const notAFile: Seen = { kind: 'foreign', reason: 'there is something else than a file' };

function ifAbsent(thrown: unknown): 'absent' | undefined {
  if (AppError.is(thrown) && thrown.code === 'E_FILE_NOT_FOUND') return 'absent';
  return passOver(thrown);
}

/** Most storages have it for a version. `undefined` for what is too large. */
export async function hashOf(files: Files, path: string, version: string): Promise<string | undefined> {
  if (/^[0-9a-f]{64}$/.test(version)) return version;
  const content = await files.read(path, { maxBytes: syncLimits.fileBytes }).catch((thrown) => {
    if (AppError.is(thrown) && thrown.code === 'E_TOO_LARGE') return undefined;
    throw thrown;
  });
  return content && sha256(content.bytes);
}
