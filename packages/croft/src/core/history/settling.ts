import type { CheckpointLog } from './checkpoint-log.ts';
import type { CheckpointNote } from './notes.ts';
import type { OpenCall } from './open-calls.ts';
import type { Root, TreePath } from './tree.ts';
import type { WorkingTree } from './working-tree.ts';

/** The tree as it was last looked at or told of. */
export interface Seen {
  root: Root | undefined;
}

export interface SettlingOptions {
  readonly tree: WorkingTree;
  readonly log: CheckpointLog;
  readonly seen: Seen;
  now(): Date;
  /** Larger files are not kept automatically. */
  readonly maxFileBytes: number;
  /** Told of each checkpoint, after it is kept. */
  onCheckpoint(): void;
}

const maxAlongside = 20;

/** Looks at the workspace, and gives what has changed to whose it is. */
export function createSettling({ tree, log, seen, now, maxFileBytes, onCheckpoint }: SettlingOptions) {
  async function look(): Promise<Root> {
    return (await tree.capture({ scope: 'source', maxFileBytes })).root;
  }

  /** What is to be compared: a path that somebody tells of is as it is now, and so nobody else's. */
  const without = async (known: Root, path: TreePath, after: Root) =>
    tree.amend(known, [{ path, after: await tree.entry(after, path) }]);

  return {
    look,
    /** What changed since the last look, but for a path that is told of, is this call's; nobody's, if none is under way. */
    async settle(owner: OpenCall | undefined, told?: TreePath): Promise<void> {
      const known = seen.root;
      const after = await look();
      seen.root = after;
      if (known === undefined || known === after || !owner) return;
      const before = told === undefined ? known : await without(known, told, after);
      if (before === after) return;
      await log.add(toNote(owner, { before, after, paths: (await tree.diff(before, after)).length, at: now() }));
      onCheckpoint();
    },
  };
}

interface Stretch {
  readonly before: Root;
  readonly after: Root;
  readonly paths: number;
  readonly at: Date;
}

function toNote({ id, call, alongside, isPartial }: OpenCall, { at, ...stretch }: Stretch): CheckpointNote {
  return {
    ...{ callId: id, call, at: at.toISOString(), ...stretch },
    ...(alongside.size > 0 && { alongside: [...alongside].slice(0, maxAlongside) }),
    ...(isPartial && { isPartial }),
  };
}
