import { closeSync, opendirSync } from 'node:fs';
import { AppError } from '@croft/protocol';
import { controlNames, findControlPath, gitNames } from '../core/commands/control-files.ts';
import { openDirectory } from './handles.ts';
import { type Root, walk } from './walk.ts';

/**
 * What steers programs outside the sandbox cannot be changed by the tools either, as it cannot from inside. Paths are
 * relative to the root, with every link resolved.
 */
export function mustBeFree(root: Root, path: string): void {
  const control = findControlPath(path) ?? findGitSetting(root, path);
  if (control === undefined) return;
  // Nobody obeys yet what is not there; but a repository obeys whatever comes into it.
  if (gitNames.has(nameOf(control)) ? isThere(root, parentOf(control)) : isThere(root, control))
    throw held(path, control);
}

/** Each level holds a handle. */
const maxDepth = 1000;

/** The same for everything in a directory, before any of it is touched. */
export async function treeMustBeFree(place: Place, signal?: AbortSignal, depth = 0): Promise<void> {
  const { parent, name, path } = place;
  if (depth > maxDepth) throw new AppError('E_TOO_LARGE', `the tree is more than ${maxDepth} directories deep`);
  const directory = openDirectory(parent, name);
  try {
    const entries = opendirSync(`/proc/self/fd/${directory}`, { encoding: 'buffer' as BufferEncoding });
    for await (const entry of entries) {
      signal?.throwIfAborted();
      const [child, text] = [Buffer.from(entry.name), Buffer.from(entry.name).toString()];
      const below = `${path}/${text}`;
      if (text === '.git' || (controlNames.has(text) && findControlPath(below) !== undefined)) throw held(path, below);
      if (entry.isDirectory()) await treeMustBeFree({ parent: directory, name: child, path: below }, signal, depth + 1);
    }
  } finally {
    closeSync(directory);
  }
}

/** A name in an open directory, and where that is. */
interface Place {
  readonly parent: number;
  readonly name: string | Buffer;
  readonly path: string;
}

/** A repository may have any name: it is known by what is in it. */
function findGitSetting(root: Root, path: string): string | undefined {
  const names = path.split('/');
  const at = names.findIndex(
    (name, index) => gitNames.has(name) && isGitDirectory(root, names.slice(0, index).join('/')),
  );
  return at < 0 ? undefined : names.slice(0, at + 1).join('/');
}

function isGitDirectory(root: Root, path: string): boolean {
  const has = (name: string) => isThere(root, path === '' ? name : `${path}/${name}`);
  const isUsual = has('HEAD') && (has('objects') || has('commondir'));
  // What is held stays, also if all that can be taken away from it has been.
  return isUsual || (has('config') && (has('commondir') || has('hooks')));
}

function isThere(root: Root, path: string): boolean {
  try {
    using spot = walk(root, path, { follow: false });
    return spot.found !== undefined;
  } catch {
    return false;
  }
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function held(path: string, control: string): AppError {
  return new AppError(
    'E_CONTROL_FILE',
    `${control} steers programs outside the sandbox and cannot be changed: ${path}`,
    {
      details: { path, rule: 'control-file', target: control },
    },
  );
}
