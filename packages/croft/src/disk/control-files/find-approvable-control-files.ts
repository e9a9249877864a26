import type { Allowance } from '../../core/control-files/allowance.ts';
import { type ControlFile, canBeApproved, describeControlFile } from '../../core/control-files/control-file.ts';
import type { GuardedPath } from '../../core/files/files.ts';
import { toSegments } from '../../core/files/workspace-path.ts';
import { walk } from '../paths/walk.ts';
import { findControlFiles, type GuardedRoot } from './control-file-guard.ts';

/**
 * Implements `Files.controlFiles`: the control files that a call would change and a person may approve. An invalid path
 * needs no approval: the change itself reports the error.
 */
export async function findApprovableControlFiles(
  root: GuardedRoot,
  paths: readonly string[],
  allow?: Allowance,
): Promise<GuardedPath[]> {
  const guarded: GuardedPath[] = [];
  for (const path of new Set(paths.flatMap((written) => pathsOf(root, written)))) {
    const found = await findControlFiles(root, path, { allow });
    if (!found.every(canBeApproved)) return [];
    if (found.length > 0) guarded.push({ path, why: found.map(toSentence).join(' ') });
  }
  return guarded;
}

function toSentence(found: ControlFile): string {
  const text = describeControlFile(found);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The path as written, and the path that it resolves to. */
function pathsOf(root: GuardedRoot, path: string): string[] {
  try {
    const own = toSegments(path, root.names).join('/');
    using resolved = walk(root, path, { follow: true });
    return [own, resolved.path];
  } catch {
    return pathsByName(root, path);
  }
}

function pathsByName(root: GuardedRoot, path: string): string[] {
  try {
    return [toSegments(path, root.names).join('/')];
  } catch {
    return [];
  }
}
