import { closeSync, mkdirSync, readlinkSync, type Stats } from 'node:fs';
import { belowRoot, outsideRoot, toSegments } from '../core/path.ts';
import { dangling, linkLoop, missing, notADirectory } from '../core/path-errors.ts';
import { errnoOf } from './errors.ts';
import { at, openDirectory, openDirectoryBelow, probe, statOf } from './handles.ts';
import { adopt } from './ownership.ts';

/** An open root directory and the absolute names by which callers and links may call it. */
export interface Root {
  readonly handle: number;
  readonly names: readonly string[];
}

/** Where a path leads: a name in an open directory. Holds its handles until it is disposed. */
export interface Spot extends Disposable {
  readonly directory: number;
  /** `.` for the root. */
  readonly name: string;
  /** Relative to the root, every link resolved. */
  readonly path: string;
  /** What is there, if anything: a handle to exactly that and its stat. */
  readonly found: Found | undefined;
  /** Hands `found` over to be closed by the caller, who may have a better moment for it. */
  take(): Found | undefined;
}

export interface Found {
  readonly handle: number;
  readonly stats: Stats;
}

export interface WalkOptions {
  /** Follow a link at the end of the path. */
  readonly follow: boolean;
  /** Make missing directories on the way. */
  readonly create?: boolean;
}

interface Step {
  readonly name: string;
  readonly fromLink: boolean;
}

/** As the kernel has it. */
const maxLinks = 40;

/** A walk under way. Holds one directory open, whatever the depth. */
interface Walk {
  readonly root: Root;
  /** As the caller wrote it. */
  readonly written: string;
  readonly options: WalkOptions;
  /** The directory the walk has come to, by `names` from the root. */
  here: number;
  readonly names: string[];
  steps: Step[];
  links: number;
}

/**
 * Goes from the root to where `path` leads, one component at a time, each opened in the directory opened
 * before it and never through a link. A link is read and its text walked the same way, so that one that stays
 * inside works and one that leaves throws `E_SANDBOX_VIOLATION`; nothing another process swaps meanwhile
 * can lead the walk out.
 */
export function walk(root: Root, path: string, options: WalkOptions): Spot {
  const steps = toSegments(path, root.names).map((name) => ({ name, fromLink: false }));
  const under: Walk = { root, written: path, options, here: root.handle, names: [], steps, links: 0 };
  try {
    goStraight(under);
    return goOn(under);
  } catch (thrown) {
    returnToRoot(under);
    throw thrown;
  }
}

/** All the way to the last name at once, if there is no link on it. */
function goStraight(walk: Walk): void {
  const names = walk.steps.slice(0, -1).map(({ name }) => name);
  const directory = openDirectoryBelow(walk.here, names);
  if (directory === undefined) return;
  walk.here = directory;
  walk.names.push(...names);
  walk.steps.splice(0, names.length);
}

function goOn(walk: Walk): Spot {
  for (;;) {
    const step = walk.steps.shift();
    // The path, or a link at its end, names a directory that is already open: the root, or one reached by `..`.
    if (!step) return arriveHere(walk);
    const spot = advance(walk, step);
    if (spot) return spot;
  }
}

function advance(walk: Walk, step: Step): Spot | undefined {
  if (step.name === '..') leave(walk);
  else if (walk.steps.length > 0) enter(walk, step);
  else return arrive(walk, step);
  return undefined;
}

/** Goes up by coming down again: the directory above is where it is now, not where it was. */
function leave(walk: Walk): void {
  const names = walk.names.slice(0, -1);
  if (walk.names.length === 0) throw outsideRoot(walk.written, 'link climbs above the root');
  returnToRoot(walk);
  for (const name of names) step(walk, name, openDirectory(walk.here, name));
}

function enter(walk: Walk, { name, fromLink }: Step): void {
  try {
    step(walk, name, openDirectory(walk.here, name));
  } catch (thrown) {
    const errno = errnoOf(thrown);
    if (errno === 'ENOTDIR') followLink(walk, name);
    else if (errno === 'ENOENT') enterNew(walk, name, fromLink);
    else throw thrown;
  }
}

function enterNew(walk: Walk, name: string, fromLink: boolean): void {
  if (fromLink) throw dangling(walk.written);
  if (!walk.options.create) throw missing(walk.written);
  const isNew = make(at(walk.here, name));
  const above = statOf(walk.here);
  step(walk, name, openDirectory(walk.here, name));
  if (isNew) adopt(walk.here, above);
}

function step(walk: Walk, name: string, directory: number): void {
  closeHere(walk);
  walk.here = directory;
  walk.names.push(name);
}

/** Puts the steps of a link's text before those still to go. */
function followLink(walk: Walk, name: string): void {
  let target = readLink(walk, name);
  walk.links += 1;
  if (walk.links > maxLinks) throw linkLoop(walk.written);
  if (target.startsWith('/')) {
    const below = belowRoot(target, walk.root.names);
    if (below === undefined) throw outsideRoot(walk.written, 'link leads out');
    returnToRoot(walk);
    target = below;
  }
  const linked = target.split('/').filter((part) => part !== '' && part !== '.');
  walk.steps = [...linked.map((part) => ({ name: part, fromLink: true })), ...walk.steps];
}

function readLink(walk: Walk, name: string): string {
  try {
    return readlinkSync(at(walk.here, name));
  } catch (thrown) {
    if (errnoOf(thrown) === 'EINVAL') throw notADirectory(walk.written);
    throw thrown;
  }
}

function arrive(walk: Walk, step: Step): Spot | undefined {
  const handle = probe(walk.here, step.name);
  if (handle === undefined) {
    if (step.fromLink) throw dangling(walk.written);
    return toSpot(walk, step.name, undefined);
  }
  const stats = statOf(handle);
  if (!stats.isSymbolicLink() || !walk.options.follow) return toSpot(walk, step.name, { handle, stats });
  closeSync(handle);
  followLink(walk, step.name);
  return undefined;
}

function arriveHere(walk: Walk): Spot {
  const name = walk.names.at(-1);
  const handle = openDirectory(walk.here, '.');
  try {
    if (name !== undefined) leave(walk);
    return toSpot(walk, name ?? '.', { handle, stats: statOf(handle) });
  } catch (thrown) {
    closeSync(handle);
    throw thrown;
  }
}

function toSpot(walk: Walk, name: string, found: Found | undefined): Spot {
  let isTaken = false;
  return {
    directory: walk.here,
    name,
    path: name === '.' ? '' : [...walk.names, name].join('/'),
    found,
    take() {
      isTaken = true;
      return found;
    },
    [Symbol.dispose]() {
      if (found && !isTaken) closeSync(found.handle);
      returnToRoot(walk);
    },
  };
}

function returnToRoot(walk: Walk): void {
  closeHere(walk);
  walk.here = walk.root.handle;
  walk.names.length = 0;
}

function closeHere({ here, root }: Walk): void {
  if (here !== root.handle) closeSync(here);
}

/** Whether it was this call that made it; another that was faster is as good. */
function make(directory: string): boolean {
  try {
    mkdirSync(directory);
    return true;
  } catch (thrown) {
    if (errnoOf(thrown) === 'EEXIST') return false;
    throw thrown;
  }
}
