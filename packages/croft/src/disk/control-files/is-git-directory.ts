import { hasGitMarks } from '../../core/control-files/control-file-names.ts';
import type { FileKind } from '../../core/files/files.ts';
import { pathBelow } from '../../core/files/workspace-path.ts';
import { kindOf } from '../paths/handles.ts';
import { type WorkspaceRoot, walk } from '../paths/walk.ts';

/**
 * The kind of entry at a path. Follows links on the way but not at the end. `undefined` if nothing is there or it
 * cannot be seen.
 */
export function kindAt(root: WorkspaceRoot, path: string): FileKind | undefined {
  try {
    using resolved = walk(root, path, { follow: false });
    return resolved.found && kindOf(resolved.found.stats);
  } catch {
    return undefined;
  }
}

export function isThere(root: WorkspaceRoot, path: string): boolean {
  return kindAt(root, path) !== undefined;
}

/** Whether adding these names to a directory would make git take it for a git directory. */
export function completesGitDirectory(root: WorkspaceRoot, directory: string, coming: ReadonlySet<string>): boolean {
  const has = (mark: string) => isThere(root, pathBelow(directory, mark));
  return hasGitMarks((mark) => coming.has(mark) || has(mark)) && !hasGitMarks(has);
}

/** Whether a directory is a git directory, judged by its content, because it may have any name. */
export function isGitDirectory(root: WorkspaceRoot, path: string): boolean {
  return looksLikeGit((name) => kindAt(root, pathBelow(path, name)));
}

/**
 * The same for a caller that knows the content of the directory. A directory from which a command removed the files
 * that git recognises it by still counts while it has settings: git would obey them as soon as those files are back.
 */
export function looksLikeGit(kindOfName: (name: string) => FileKind | undefined): boolean {
  if (hasGitMarks((mark) => kindOfName(mark) !== undefined)) return true;
  return kindOfName('config') === 'file' && (kindOfName('hooks') === 'directory' || kindOfName('commondir') === 'file');
}
