import { renameSync, unlinkSync } from 'node:fs';
import { AppError } from '@croft/protocol';
import type { FileKind } from '../core/files.ts';
import { toSegments } from '../core/path.ts';
import { missing } from '../core/path-errors.ts';
import { at, kindOf } from './handles.ts';
import { mustBeFree, treeMustBeFree } from './held.ts';
import { alreadyExists, linkIfFree } from './link.ts';
import { syncDirectory, type WritableRoot } from './sync.ts';
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
  using target = walk(root, to, { follow: false, create: true });
  if (target.found) throw alreadyExists(to);
  if (target.path !== written.join('/')) mustBeFree(root, target.path);

  moveWithoutReplacing(source, target, kind, to);
  await syncDirectory(target.directory, root.durability);
  if (source.directory !== target.directory) await syncDirectory(source.directory, root.durability);
  return { from: source.path, to: target.path, kind };
}

/** A hard link fails where a rename would replace; a directory cannot have one, but replaces only an empty one. */
function moveWithoutReplacing(source: Spot, target: Spot, kind: FileKind, to: string): void {
  const [old, fresh] = [at(source.directory, source.name), at(target.directory, target.name)];
  if (kind === 'directory' || !linkIfFree(old, fresh, to)) renameSync(old, fresh);
  else unlinkSync(old);
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
