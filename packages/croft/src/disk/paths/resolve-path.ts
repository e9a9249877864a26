import { closeSync } from 'node:fs';
import { toSegments } from '../../core/files/workspace-path.ts';
import { probeBelow, statOf } from './handles.ts';
import { type OpenedEntry, type ResolvedPath, type WorkspaceRoot, walk } from './walk.ts';

/** A resolved path for callers that only read. */
export type ReadablePath = Pick<ResolvedPath, 'path' | 'found'> & Disposable;

/** Resolves a path like `walk` with `follow`, but with one system call if no link is on the way. */
export function resolvePath(root: WorkspaceRoot, path: string): ReadablePath {
  const names = toSegments(path, root.names);
  const found = resolveWithoutLinks(root, names);
  if (!found) return walk(root, path, { follow: true });
  return { path: names.join('/'), found, [Symbol.dispose]: () => closeSync(found.handle) };
}

function resolveWithoutLinks(root: WorkspaceRoot, names: readonly string[]): OpenedEntry | undefined {
  const handle = probeBelow(root.handle, names);
  if (handle === undefined) return undefined;
  const stats = statOf(handle);
  if (!stats.isSymbolicLink()) return { handle, stats };
  closeSync(handle);
  return undefined;
}
