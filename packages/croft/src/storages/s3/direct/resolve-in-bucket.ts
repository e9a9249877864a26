import { danglingLink, fileNotFound, linkLoop, notADirectory } from '../../../core/files/path-errors.ts';
import { belowRoot, outsideRoot, toSegments } from '../../../core/files/workspace-path.ts';
import { keyOfPath } from '../layout/object-keys.ts';
import type { DirectObject, DirectObjects } from './direct-objects.ts';

/** A resolved path. */
export interface ResolvedObject {
  /** The path with every link resolved. */
  readonly path: string;
  readonly key: string;
  /** Missing for a directory. */
  readonly file?: DirectObject;
}

interface Step {
  readonly name: string;
  readonly fromLink: boolean;
}

interface Walk {
  readonly objects: DirectObjects;
  readonly roots: readonly string[];
  /** The path as the caller wrote it, for errors. */
  readonly written: string;
  names: string[];
  steps: Step[];
  links: number;
}

/** The limit of the Linux kernel. */
const maxLinks = 40;

/**
 * Resolves a path as `disk/paths/walk.ts` does on a disk: a link that stays inside the workspace is followed, and a
 * link that leaves it throws `E_SANDBOX_VIOLATION`. Most paths have no link and need one request.
 */
export async function resolveInBucket(
  objects: DirectObjects,
  roots: readonly string[],
  path: string,
): Promise<ResolvedObject> {
  const names = toSegments(path, roots);
  const direct = await findObject(objects, names);
  if (direct && direct.file?.kind !== 'link') return direct;
  const steps = names.map((name) => ({ name, fromLink: false }));
  const walk: Walk = { objects, roots, written: path, names: [], steps, links: 0 };
  for (let step = walk.steps.shift(); step; step = walk.steps.shift()) {
    if (step.name === '..') await leave(walk);
    else await enter(walk, step);
  }
  const found = await findObject(objects, walk.names);
  if (!found) throw fileNotFound(path);
  return found;
}

async function findObject(objects: DirectObjects, names: readonly string[]): Promise<ResolvedObject | undefined> {
  const path = names.join('/');
  const key = keyOfPath(path);
  if (key === undefined) return undefined;
  const file = key === '' ? undefined : await objects.look(key);
  if (file) return { path, key, file };
  return (await objects.isDirectory(key)) ? { path, key } : undefined;
}

async function leave(walk: Walk): Promise<void> {
  if (walk.names.length === 0) throw outsideRoot(walk.written, 'link climbs above the root');
  if (!(await findObject(walk.objects, walk.names))) throw danglingLink(walk.written);
  walk.names.pop();
}

async function enter(walk: Walk, { name, fromLink }: Step): Promise<void> {
  const { objects, names, written } = walk;
  const found = await findObject(objects, [...names, name]);
  if (!found) throw fromLink ? danglingLink(written) : fileNotFound(written);
  if (found.file?.kind === 'link') return followLink(walk, found.file);
  const isFileOnTheWay = found.file !== undefined && walk.steps.length > 0;
  if (isFileOnTheWay) throw notADirectory(written);
  walk.names = [...names, name];
}

async function followLink(walk: Walk, link: DirectObject): Promise<void> {
  walk.links += 1;
  if (walk.links > maxLinks) throw linkLoop(walk.written);
  let target = await walk.objects.readTarget(link);
  if (target === undefined) throw fileNotFound(walk.written);
  if (target.startsWith('/')) {
    const below = belowRoot(target, walk.roots);
    if (below === undefined) throw outsideRoot(walk.written, 'link leads out');
    walk.names = [];
    target = below;
  }
  const linked = target.split('/').filter((part) => part !== '' && part !== '.');
  walk.steps = [...linked.map((part) => ({ name: part, fromLink: true })), ...walk.steps];
}
