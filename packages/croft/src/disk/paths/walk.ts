import { closeSync, mkdirSync, readlinkSync, type Stats } from 'node:fs';
import { danglingLink, fileNotFound, linkLoop, notADirectory } from '../../core/files/path-errors.ts';
import { belowRoot, outsideRoot, toSegments } from '../../core/files/workspace-path.ts';
import { errnoOf } from './file-errors.ts';
import { giveToDirectoryOwner } from './give-to-directory-owner.ts';
import { at, openDirectory, openDirectoryBelow, probe, statOf } from './handles.ts';

/** An open root directory, and the absolute paths by which callers and links may name it. */
export interface WorkspaceRoot {
  readonly handle: number;
  readonly names: readonly string[];
}

/** A resolved path: a name in an open directory. Holds its handles until it is disposed. */
export interface ResolvedPath extends Disposable {
  readonly directoryFd: number;
  /** `.` for the root. */
  readonly name: string;
  /** The path relative to the root, with every link resolved. */
  readonly path: string;
  /** The existing entry, if any: an `O_PATH` handle of exactly that entry, and its stat. */
  readonly found: OpenedEntry | undefined;
  /** Passes ownership of `found` to the caller, who may want to close it later. */
  take(): OpenedEntry | undefined;
}

export interface OpenedEntry {
  readonly handle: number;
  readonly stats: Stats;
}

interface WalkOptions {
  /** Whether a link at the end of the path is followed. */
  readonly follow: boolean;
  /** Whether missing directories on the way are created. */
  readonly create?: boolean;
  /** Called with each link that is followed, and with the final path, even if nothing is there. */
  trace?(path: string): void;
}

interface Step {
  readonly name: string;
  readonly fromLink: boolean;
}

/** The limit of the Linux kernel. */
const maxLinks = 40;

/** State of a walk. Holds one directory open, whatever the depth. */
interface Walk {
  readonly root: WorkspaceRoot;
  /** The path as the caller wrote it. */
  readonly written: string;
  readonly options: WalkOptions;
  /** The current directory of the walk, reached by `names` from the root. */
  here: number;
  readonly names: string[];
  steps: Step[];
  links: number;
}

/**
 * Resolves `path` from the root, one component at a time, each opened in the directory opened before it and never
 * through a link. A link is read and its text walked the same way: a link that stays inside works, and one that leaves
 * throws `E_SANDBOX_VIOLATION`. Nothing that another process replaces meanwhile can lead the walk out.
 */
export function walk(root: WorkspaceRoot, path: string, options: WalkOptions): ResolvedPath {
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

/** Opens all directories up to the last name with one system call, if no link is on the way. */
function goStraight(walk: Walk): void {
  const names = walk.steps.slice(0, -1).map(({ name }) => name);
  const directoryFd = openDirectoryBelow(walk.here, names);
  if (directoryFd === undefined) return;
  walk.here = directoryFd;
  walk.names.push(...names);
  walk.steps.splice(0, names.length);
}

function goOn(walk: Walk): ResolvedPath {
  for (;;) {
    const step = walk.steps.shift();
    // The path, or a link at its end, names a directory that is already open: the root, or one reached by `..`.
    if (!step) return arriveHere(walk);
    const resolved = advance(walk, step);
    if (resolved) return resolved;
  }
}

function advance(walk: Walk, step: Step): ResolvedPath | undefined {
  if (step.name === '..') leave(walk);
  else if (walk.steps.length > 0) enter(walk, step);
  else return arrive(walk, step);
  return undefined;
}

/**
 * Goes up by walking down from the root again: the parent is the directory that has the name now, not the one it had
 * before a move.
 */
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
  trace(walk, name, ...walk.steps.map((step) => step.name));
  if (fromLink) throw danglingLink(walk.written);
  if (!walk.options.create) throw fileNotFound(walk.written);
  const isNew = make(at(walk.here, name));
  const above = statOf(walk.here);
  step(walk, name, openDirectory(walk.here, name));
  if (isNew) giveToDirectoryOwner(walk.here, above);
}

function step(walk: Walk, name: string, directoryFd: number): void {
  closeHere(walk);
  walk.here = directoryFd;
  walk.names.push(name);
}

/** Inserts the components of a link's target before the remaining ones. */
function followLink(walk: Walk, name: string): void {
  trace(walk, name);
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

function arrive(walk: Walk, step: Step): ResolvedPath | undefined {
  trace(walk, step.name);
  const handle = probe(walk.here, step.name);
  if (handle === undefined) {
    if (step.fromLink) throw danglingLink(walk.written);
    return toResolvedPath(walk, step.name, undefined);
  }
  const stats = statOf(handle);
  if (!stats.isSymbolicLink() || !walk.options.follow) return toResolvedPath(walk, step.name, { handle, stats });
  closeSync(handle);
  followLink(walk, step.name);
  return undefined;
}

function trace({ options, names }: Walk, ...further: readonly string[]): void {
  options.trace?.([...names, ...further].join('/'));
}

function arriveHere(walk: Walk): ResolvedPath {
  trace(walk);
  const name = walk.names.at(-1);
  const handle = openDirectory(walk.here, '.');
  try {
    if (name !== undefined) leave(walk);
    return toResolvedPath(walk, name ?? '.', { handle, stats: statOf(handle) });
  } catch (thrown) {
    closeSync(handle);
    throw thrown;
  }
}

function toResolvedPath(walk: Walk, name: string, found: OpenedEntry | undefined): ResolvedPath {
  let isTaken = false;
  return {
    directoryFd: walk.here,
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

/** Creates a directory. Returns false if another process was faster, which is as good. */
function make(directory: string): boolean {
  try {
    mkdirSync(directory);
    return true;
  } catch (thrown) {
    if (errnoOf(thrown) === 'EEXIST') return false;
    throw thrown;
  }
}
