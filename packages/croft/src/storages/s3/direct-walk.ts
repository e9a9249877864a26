import { belowRoot, outsideRoot, toSegments } from '../../core/path.ts';
import { dangling, linkLoop, missing, notADirectory } from '../../core/path-errors.ts';
import type { DirectObjects, Seen } from './direct-objects.ts';
import { keyOf } from './keys.ts';

/** Where a path leads. */
export interface DirectPlace {
  /** Every link resolved. */
  readonly path: string;
  readonly key: string;
  /** Left out: it is a directory. */
  readonly file?: Seen;
}

interface Step {
  readonly name: string;
  readonly fromLink: boolean;
}

interface Walk {
  readonly objects: DirectObjects;
  readonly roots: readonly string[];
  /** As the caller wrote it. */
  readonly written: string;
  names: string[];
  steps: Step[];
  links: number;
}

/** As the kernel has it. */
const maxLinks = 40;

/**
 * As the walk on a disk (`disk/walk.ts`): a link is followed as long as it stays inside, one that leaves throws
 * `E_SANDBOX_VIOLATION`. Mostly there is none, and one question is enough.
 */
export async function walkDirect(objects: DirectObjects, roots: readonly string[], path: string): Promise<DirectPlace> {
  const names = toSegments(path, roots);
  const direct = await place(objects, names);
  if (direct && direct.file?.kind !== 'link') return direct;
  const steps = names.map((name) => ({ name, fromLink: false }));
  const walk: Walk = { objects, roots, written: path, names: [], steps, links: 0 };
  for (let step = walk.steps.shift(); step; step = walk.steps.shift()) {
    if (step.name === '..') await leave(walk);
    else await enter(walk, step);
  }
  const found = await place(objects, walk.names);
  if (!found) throw missing(path);
  return found;
}

async function place(objects: DirectObjects, names: readonly string[]): Promise<DirectPlace | undefined> {
  const path = names.join('/');
  const key = keyOf(path);
  if (key === undefined) return undefined;
  const file = key === '' ? undefined : await objects.look(key);
  if (file) return { path, key, file };
  return (await objects.isDirectory(key)) ? { path, key } : undefined;
}

async function leave(walk: Walk): Promise<void> {
  if (walk.names.length === 0) throw outsideRoot(walk.written, 'link climbs above the root');
  if (!(await place(walk.objects, walk.names))) throw dangling(walk.written);
  walk.names.pop();
}

async function enter(walk: Walk, { name, fromLink }: Step): Promise<void> {
  const { objects, names, written } = walk;
  const found = await place(objects, [...names, name]);
  if (!found) throw fromLink ? dangling(written) : missing(written);
  if (found.file?.kind === 'link') return followLink(walk, found.file);
  const isFileOnTheWay = found.file !== undefined && walk.steps.length > 0;
  if (isFileOnTheWay) throw notADirectory(written);
  walk.names = [...names, name];
}

async function followLink(walk: Walk, link: Seen): Promise<void> {
  walk.links += 1;
  if (walk.links > maxLinks) throw linkLoop(walk.written);
  let target = await walk.objects.readTarget(link);
  if (target === undefined) throw missing(walk.written);
  if (target.startsWith('/')) {
    const below = belowRoot(target, walk.roots);
    if (below === undefined) throw outsideRoot(walk.written, 'link leads out');
    walk.names = [];
    target = below;
  }
  const linked = target.split('/').filter((part) => part !== '' && part !== '.');
  walk.steps = [...linked.map((part) => ({ name: part, fromLink: true })), ...walk.steps];
}
