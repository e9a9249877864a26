import { linkSync, renameSync, unlinkSync } from 'node:fs';
import { AppError } from '@croft/protocol';
import type { FileKind } from '../core/files.ts';
import { toSegments } from '../core/path.ts';
import { errnoOf } from './errors.ts';
import { at, kindOf } from './handles.ts';
import { missing, type Root, type Spot, walk } from './walk.ts';
import { syncDirectory } from './write.ts';

export async function renameAt(
  root: Root,
  from: string,
  to: string,
): Promise<{ from: string; to: string; kind: FileKind }> {
  using source = walk(root, from, { follow: false });
  if (!source.found) throw missing(from);
  if (source.path === '') throw new AppError('E_INVALID_INPUT', 'the workspace root cannot be moved');
  const kind = kindOf(source.found.stats);

  // Before any directory is made on the way to it, and again where links have led.
  checkOutside(source.path, toSegments(to, root.names).join('/'), { from, to });
  using target = walk(root, to, { follow: false, create: true });
  if (target.found) throw alreadyExists(to);
  checkOutside(source.path, target.path, { from, to });

  moveWithoutReplacing(source, target, kind, to);
  await syncDirectory(target.directory);
  if (source.directory !== target.directory) await syncDirectory(source.directory);
  return { from: source.path, to: target.path, kind };
}

/** A hard link fails where a rename would replace; a directory cannot have one, but replaces only an empty one. */
function moveWithoutReplacing(source: Spot, target: Spot, kind: FileKind, to: string): void {
  const [old, fresh] = [at(source.directory, source.name), at(target.directory, target.name)];
  if (kind === 'directory' || !link(old, fresh, to)) renameSync(old, fresh);
  else unlinkSync(old);
}

/** False on a file system without hard links, or for a file that may not have one. */
function link(old: string, fresh: string, to: string): boolean {
  try {
    linkSync(old, fresh);
    return true;
  } catch (thrown) {
    const errno = errnoOf(thrown) ?? '';
    if (errno === 'EEXIST') throw alreadyExists(to);
    if (['EPERM', 'ENOTSUP', 'EMLINK'].includes(errno)) return false;
    throw thrown;
  }
}

function checkOutside(source: string, target: string, { from, to }: { from: string; to: string }): void {
  if (!`${target}/`.startsWith(`${source}/`)) return;
  throw new AppError('E_INVALID_INPUT', `cannot move ${from} into itself`, { details: { from, to } });
}

function alreadyExists(path: string): AppError {
  return new AppError('E_ALREADY_EXISTS', `already exists: ${path}`, { details: { path } });
}
