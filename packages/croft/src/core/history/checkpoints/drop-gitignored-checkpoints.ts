import type { CheckpointLog } from '../logs/checkpoint-log.ts';
import type { CheckpointNote } from '../logs/notes.ts';
import type { TreePath } from '../ports/tree.ts';
import type { WorkingTree } from '../ports/working-tree.ts';

interface IgnoredCheckpointsOptions {
  readonly tree: Pick<WorkingTree, 'isOfSource'>;
  readonly log: Pick<CheckpointLog, 'drop'>;
}

/** Further checkpoints are not checked again. */
const maxUnchecked = 10_000;

/**
 * Checkpoints written before the workspace was read, when the ignore rules of git were not known yet. Once the rules
 * are known, `dropIgnored` deletes the checkpoints of ignored files.
 */
export function createDropGitignoredCheckpoints({ tree, log }: IgnoredCheckpointsOptions) {
  const pathOf = new WeakMap<CheckpointNote, TreePath>();
  let unchecked: { readonly name: string; readonly path: TreePath }[] = [];
  return {
    checkLater: (note: CheckpointNote, path: TreePath): void => void pathOf.set(note, path),
    add(notes: readonly CheckpointNote[], names: readonly string[]): void {
      for (const [at, note] of notes.entries()) {
        const [path, name] = [pathOf.get(note), names[at]];
        if (path !== undefined && name !== undefined && unchecked.length < maxUnchecked) unchecked.push({ name, path });
      }
    },
    async dropIgnored(): Promise<void> {
      const checking = unchecked;
      unchecked = [];
      const ignored: string[] = [];
      for (const { name, path } of checking) if ((await tree.isOfSource(path)) === false) ignored.push(name);
      if (ignored.length > 0) await log.drop(ignored);
    },
  };
}
