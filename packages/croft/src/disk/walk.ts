import { closeSync, mkdirSync, readlinkSync, type Stats } from 'node:fs';
import { AppError } from '@croft/protocol';
import { belowRoot, outsideRoot, toSegments } from '../core/path.ts';
import { errnoOf } from './errors.ts';
import { at, closeAll, openDirectory, openPlace, statOf } from './handles.ts';
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
  readonly found: { readonly handle: number; readonly stats: Stats } | undefined;
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

/**
 * Goes from the root to where `path` leads, one component at a time, each opened in the directory opened
 * before it and never through a link. A link is read and its text walked the same way, so that one that stays
 * inside works and one that leaves throws `E_SANDBOX_VIOLATION`; nothing another process swaps meanwhile
 * can lead the walk out.
 */
export function walk(root: Root, path: string, options: WalkOptions): Spot {
  const walker = createWalker(root, path, options);
  try {
    return walker.run(toSegments(path, root.names));
  } catch (thrown) {
    walker.close();
    throw thrown;
  }
}

function createWalker(root: Root, written: string, { follow, create = false }: WalkOptions) {
  const handles = [root.handle];
  const names: string[] = [];
  let steps: Step[] = [];
  let links = 0;

  const here = () => handles.at(-1) ?? root.handle;
  const close = () => closeAll(handles.splice(1));

  return { run, close };

  function run(segments: readonly string[]): Spot {
    steps = segments.map((name) => ({ name, fromLink: false }));
    for (let step = steps.shift(); step; step = steps.shift()) {
      if (step.name === '..') leave();
      else if (steps.length > 0) enter(step);
      else {
        const spot = arrive(step);
        if (spot) return spot;
      }
    }
    // The path, or the link at its end, names a directory that is already open: the root, or one reached by `..`.
    return arriveHere();
  }

  function leave(): void {
    const handle = handles.length > 1 ? handles.pop() : undefined;
    if (handle === undefined) throw outsideRoot(written, 'link climbs above the root');
    closeSync(handle);
    names.pop();
  }

  function enter(step: Step): void {
    try {
      handles.push(openDirectory(here(), step.name));
      names.push(step.name);
    } catch (thrown) {
      const errno = errnoOf(thrown);
      if (errno === 'ENOTDIR') followLink(step);
      else if (errno === 'ENOENT') makeDirectory(step);
      else throw thrown;
    }
  }

  function makeDirectory(step: Step): void {
    if (step.fromLink) throw dangling(written);
    if (!create) throw missing(written);
    const isNew = make(at(here(), step.name));
    const directory = openDirectory(here(), step.name);
    if (isNew) adopt(directory, here());
    handles.push(directory);
    names.push(step.name);
  }

  /** Puts the steps of a link's text before those still to go. */
  function followLink({ name }: Step): void {
    const target = readLink(name);
    links += 1;
    if (links > maxLinks)
      throw new AppError('E_LINK_LOOP', `too many links: ${written}`, { details: { path: written } });

    let relative = target;
    if (target.startsWith('/')) {
      const below = belowRoot(target, root.names);
      if (below === undefined) throw outsideRoot(written, 'link leads out');
      close();
      names.length = 0;
      relative = below;
    }
    const linked = relative.split('/').filter((part) => part !== '' && part !== '.');
    steps = [...linked.map((part) => ({ name: part, fromLink: true })), ...steps];
  }

  function readLink(name: string): string {
    try {
      return readlinkSync(at(here(), name));
    } catch (thrown) {
      if (errnoOf(thrown) !== 'EINVAL') throw thrown;
      throw new AppError('E_NOT_A_DIRECTORY', `a part of the path is not a directory: ${written}`, {
        details: { path: written },
      });
    }
  }

  function arrive(step: Step): Spot | undefined {
    const handle = probe(here(), step.name);
    if (handle === undefined) {
      if (step.fromLink) throw dangling(written);
      return toSpot(step.name, undefined);
    }
    const stats = statOf(handle);
    if (stats.isSymbolicLink() && follow) {
      closeSync(handle);
      followLink(step);
      return undefined;
    }
    return toSpot(step.name, { handle, stats });
  }

  function arriveHere(): Spot {
    const handle = openDirectory(here(), '.');
    const name = names.length === 0 ? '.' : (names.pop() ?? '.');
    if (name !== '.') closeAll(handles.splice(-1));
    return toSpot(name, { handle, stats: statOf(handle) });
  }

  function toSpot(name: string, found: Spot['found']): Spot {
    const directory = here();
    const path = name === '.' ? '' : [...names, name].join('/');
    return {
      directory,
      name,
      path,
      found,
      [Symbol.dispose]() {
        if (found) closeSync(found.handle);
        close();
      },
    };
  }
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

/** A handle to what is at `name` now, or `undefined`. */
export function probe(directory: number, name: string): number | undefined {
  try {
    return openPlace(directory, name);
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}

export function missing(path: string): AppError {
  return new AppError('E_FILE_NOT_FOUND', `no such file or directory: ${path}`, { details: { path } });
}

function dangling(path: string): AppError {
  return new AppError('E_DANGLING_LINK', `a link on the path leads to nothing: ${path}`, { details: { path } });
}
