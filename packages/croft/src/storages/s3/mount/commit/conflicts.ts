import { AppError } from '@croft/protocol';
import type { TreeEntry, TreePath } from '../../../../core/history/ports/tree.ts';

/** A file that was changed on both sides, and where both versions are now. */
export interface Conflict {
  readonly path: TreePath;
  /** The path of our version; equal to `path` if our version is the one there. */
  readonly kept: TreePath;
  readonly reason: 'both changed' | 'removed here, changed there' | 'changed here, removed there';
}

const maxNamed = 20;
const maxNameBytes = 255;

/**
 * A path beside the file, derived from the content: after a crash the same content gets the same name again, not a
 * second one.
 */
export function conflictPath(path: TreePath, { hash }: Pick<TreeEntry, 'hash'>, attempt = 0): TreePath {
  const suffix = `.conflict-${hash.slice(0, 8)}${attempt === 0 ? '' : `-${attempt}`}`;
  const start = path.lastIndexOf('/') + 1;
  const name = [...path.slice(start)];
  while (Buffer.byteLength(name.join('')) + suffix.length > maxNameBytes) name.pop();
  return `${path.slice(0, start)}${name.join('')}${suffix}`;
}

export function conflictError(conflicts: readonly Conflict[], committed: readonly string[]): AppError {
  const lines = conflicts.slice(0, maxNamed).map(describe);
  if (conflicts.length > maxNamed) lines.push(`and ${conflicts.length - maxNamed} more`);
  const stored = committed.length === 0 ? 'Nothing else was changed by this call.' : `Stored: ${nameSome(committed)}.`;
  const message = `somebody else changed the same files in the meantime:\n${lines.join('\n')}\n${stored}`;
  return new AppError('E_CONFLICT', message, { details: { conflicts, committed } });
}

function describe({ path, kept, reason }: Conflict): string {
  if (reason === 'changed here, removed there')
    return `- ${path}: they removed it, you changed it. Yours is stored; delete it if it should be gone`;
  if (reason === 'removed here, changed there')
    return `- ${kept}: you removed ${path}, they changed it. Theirs is back; read it, and delete it again if it should be gone`;
  return `- ${path}: theirs is there now, yours is in ${kept}. Read both, write what should stand to ${path}, delete ${kept}`;
}

export function nameSome(names: readonly string[]): string {
  const some = names.slice(0, maxNamed).join(', ');
  return names.length > maxNamed ? `${some} and ${names.length - maxNamed} more` : some;
}
