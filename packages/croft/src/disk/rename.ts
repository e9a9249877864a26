import { renameSync, unlinkSync } from 'node:fs';
import { AppError, type ErrorCode } from '@croft/protocol';
import type { FileKind } from '../core/files.ts';
import { toSegments } from '../core/path.ts';
import { missing } from '../core/path-errors.ts';
import { fileError } from './errors.ts';
import { at, kindOf } from './handles.ts';
import { mustBeFree, treeMustBeFree } from './held.ts';
import { alreadyExists, linkIfFree } from './link.ts';
import { openToSync, type WritableRoot } from './sync.ts';
import { type Root, type Spot, walk } from './walk.ts';

export async function renameAt(
  root: WritableRoot,
  from: string,
  to: string,
): Promise<{ from: string; to: string; kind: FileKind }> {
  using source = walk(root, from, { follow: false });
  if (!source.found) throw missing(from);
  if (source.path === '') throw new AppError('E_INVALID_INPUT', 'the workspace root cannot be moved');
  const kind = kindOf(source.found.stats);

  mustBeFree(root, source.path);
  if (kind === 'directory') await treeMustBeFree({ parent: source.directory, name: source.name, path: source.path });

  // Before any directory is made on the way to it.
  const written = toSegments(to, root.names);
  checkOutside(source.path, nearest(root, written), { from, to });
  mustBeFree(root, written.join('/'));
  using target = reachFree(root, { from, to, kind });
  if (target.path !== written.join('/')) mustBeFree(root, target.path);

  // Before anything has moved: what cannot be made durable is not begun.
  using there = naming(to, () => openToSync(target.directory, root.durability));
  using here = openToSync(source.directory, root.durability);
  moveWithoutReplacing(source, target, kind, to);
  await there.sync();
  if (source.directory !== target.directory) await here.sync();
  return { from: source.path, to: target.path, kind };
}

interface Naming {
  readonly from: string;
  readonly to: string;
  readonly kind: FileKind;
}

/** A name that nothing has, with its directories made. */
function reachFree(root: Root, { from, to, kind }: Naming): Spot {
  if (to.endsWith('/') && kind !== 'directory') throw intoDirectory('E_NOT_A_FILE', to, from);
  const target = naming(to, () => walk(root, to, { follow: false, create: true }));
  if (!target.found) return target;
  using taken = target;
  throw taken.found?.stats.isDirectory() ? intoDirectory('E_ALREADY_EXISTS', to, from) : alreadyExists(to);
}

/** A hard link fails where a rename would replace; a directory cannot have one, but replaces only an empty one. */
function moveWithoutReplacing(source: Spot, target: Spot, kind: FileKind, to: string): void {
  const [old, fresh] = [at(source.directory, source.name), at(target.directory, target.name)];
  if (kind === 'directory' || !naming(to, () => linkIfFree(old, fresh, to))) renameSync(old, fresh);
  else dropName(old, fresh);
}

/** A file that may not leave its directory is not to have two names either. */
function dropName(old: string, fresh: string): void {
  try {
    unlinkSync(old);
  } catch (thrown) {
    unlinkSync(fresh);
    throw thrown;
  }
}

/** Of two paths, the one that failed is to be told of. */
function naming<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw fileError(thrown, path);
  }
}

/** Who means "into it" is told how to say so, before they delete it to make room. */
function intoDirectory(code: ErrorCode, path: string, from: string): AppError {
  const inside = `${path.replace(/\/+$/, '')}/${from.replace(/\/+$/, '').split('/').at(-1)}`;
  return new AppError(code, `path names a directory: ${path}; to move it in there, name it: ${inside}`, {
    details: { path },
  });
}

/** Where the part of a path that is there leads. */
function nearest(root: Root, segments: readonly string[]): string {
  for (let length = segments.length - 1; length > 0; length--) {
    try {
      using spot = walk(root, segments.slice(0, length).join('/'), { follow: true });
      if (spot.found) return spot.path;
    } catch (thrown) {
      if (!(AppError.is(thrown) && thrown.code === 'E_FILE_NOT_FOUND')) throw thrown;
    }
  }
  return '';
}

function checkOutside(source: string, target: string, { from, to }: { from: string; to: string }): void {
  if (!`${target}/`.startsWith(`${source}/`)) return;
  throw new AppError('E_INVALID_INPUT', `cannot move ${from} into itself`, { details: { from, to } });
}
