import type { Diagnostic } from '../core/code/ports/protocol-schemas.ts';
import type { NumberedChanges } from './numbered-changes.ts';

const maxFiles = 100;

interface Known {
  /** The number of the last change that the server had been told of. */
  readonly version: number;
  readonly items: readonly Diagnostic[];
}

/** Remembers diagnostics as long as no file of the workspace changes: any change may be of a type that a file uses. */
export function createKnownDiagnostics({ changedSince }: Pick<NumberedChanges, 'changedSince'>) {
  const known = new Map<string, Known>();

  function find(path: string): readonly Diagnostic[] | undefined {
    const found = known.get(path);
    if (!found) return undefined;
    const changed = changedSince(found.version);
    return changed !== 'everything' && changed.size === 0 ? found.items : undefined;
  }

  return {
    find,
    add(path: string, found: Known): void {
      known.delete(path);
      known.set(path, found);
      const [oldest = ''] = known.keys();
      if (known.size > maxFiles) known.delete(oldest);
    },
  };
}
