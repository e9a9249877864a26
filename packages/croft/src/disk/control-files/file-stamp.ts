import { lstatSync } from 'node:fs';
import type { WorkspaceRoot } from '../paths/walk.ts';

/**
 * A stamp that differs after a file was changed or replaced. The stamp of a directory does not depend on its content.
 */
export function stampOf({ handle }: WorkspaceRoot, path: string): string {
  try {
    const stats = lstatSync(`/proc/self/fd/${handle}/${path}`, { throwIfNoEntry: false });
    if (!stats || stats.isDirectory()) return stats ? 'directory' : '';
    return `${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`;
  } catch {
    return '';
  }
}
