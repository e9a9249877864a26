import type { TreeHash } from '../ports/tree.ts';
import type { CheckpointLog } from './checkpoint-log.ts';
import type { SnapshotLog } from './snapshot-log.ts';
import type { VerdictLog } from './verdict-log.ts';

export interface DropOldNotesOptions {
  readonly log: CheckpointLog;
  readonly snapshots: SnapshotLog;
  readonly verdicts: VerdictLog;
}

/** Whether a note made at `at`, at position `index` from the newest of its kind, is to be deleted. */
type IsOver = (at: string, index: number) => boolean;

/** Deletes checkpoints, automatic snapshots, and verdicts on trees that no snapshot has. */
export function createDropOldNotes({ log, snapshots, verdicts }: DropOldNotesOptions) {
  async function find(isOver: IsOver) {
    const all = await snapshots.list();
    const named = new Set(all.map(({ note }) => note.source));
    const automatic = all.filter(({ note }) => note.isAutomatic);
    const known = (await verdicts.list()).sort((a, b) => b.note.at.localeCompare(a.note.at));
    return {
      checkpoints: (await log.list()).filter(({ note }, index) => isOver(note.at, index)),
      old: automatic.filter(({ note }, index) => isOver(note.createdAt, index)),
      forgotten: known.filter(({ name, note }, index) => !named.has(name) && isOver(note.at, index)),
    };
  }

  return {
    /** Returns the hashes of the trees that the deleted notes named. */
    async drop(isOver: IsOver): Promise<TreeHash[]> {
      const { checkpoints, old, forgotten } = await find(isOver);
      if (checkpoints.length > 0) await log.drop(checkpoints.map(({ name }) => name));
      if (old.length > 0) await snapshots.drop(old.map(({ name }) => name));
      if (forgotten.length > 0) await verdicts.drop(forgotten.map(({ name }) => name));
      const seen = checkpoints.flatMap(({ note }) => [note.before, note.after]);
      return [...seen, ...old.map(({ note }) => note.root), ...forgotten.map(({ name }) => name)];
    },
    /** Returns the time up to which the older half of the notes was made, or `undefined` if there are none. */
    async olderHalf(): Promise<string | undefined> {
      const { checkpoints, old } = await find(() => true);
      const times = [...checkpoints.map(({ note }) => note.at), ...old.map(({ note }) => note.createdAt)];
      return times.sort()[Math.ceil(times.length / 2) - 1];
    },
  };
}
