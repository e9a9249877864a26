import { AppError } from '@croft/protocol';
import type { CheckVerdict, Snapshot } from '../ports/history.ts';
import type { HistoryStore } from '../ports/history-store.ts';
import type { TreeHash } from '../ports/tree.ts';
import { type Named, readNotes, SnapshotNote } from './notes.ts';
import { automaticSnapshotName, checkSnapshotName } from './snapshot-name.ts';

export type LoggedSnapshot = Named<SnapshotNote>;
export type SnapshotLog = ReturnType<typeof createSnapshotLog>;

const maxNamed = 20;
const maxSnapshots = 1000;

/** Snapshots, stored by name. */
export function createSnapshotLog(store: HistoryStore) {
  async function list(): Promise<LoggedSnapshot[]> {
    const found = readNotes(SnapshotNote, await store.notes('snapshot'));
    return found.sort((a, b) => b.note.createdAt.localeCompare(a.note.createdAt) || (a.name < b.name ? 1 : -1));
  }

  async function find(name: string): Promise<LoggedSnapshot | undefined> {
    return readNotes(SnapshotNote, [{ name, note: (await store.note('snapshot', name)) ?? {} }])[0];
  }

  async function mustFind(name: string): Promise<LoggedSnapshot> {
    checkSnapshotName(name);
    return (await find(name)) ?? notFound(name, await list());
  }

  return {
    /** Newest first. */
    list,
    find,
    /** Throws `E_NOT_FOUND` and lists the existing names. */
    mustFind,
    /** Throws `E_QUOTA` if there are too many snapshots. */
    async mustBeBelowLimit(): Promise<void> {
      const made = (await list()).filter(({ note }) => !note.isAutomatic).length;
      if (made < maxSnapshots) return;
      throw new AppError('E_QUOTA', `there are ${made} snapshots of this workspace, and no more may be made`);
    },
    /**
     * Returns a free name for an automatic snapshot. Two snapshots of the same millisecond do not replace each other.
     */
    async freeName(what: string, at: Date): Promise<string> {
      for (let ms = at.getTime(); ; ms++) {
        const name = automaticSnapshotName(what, new Date(ms));
        if (!(await find(name))) return name;
      }
    },
    put: (name: string, note: SnapshotNote) => store.put([], [{ kind: 'snapshot', name, note }]),
    drop: (names: readonly string[]) => store.dropNotes('snapshot', names),
  };
}

export function toSnapshot(
  { name, note: { source, ...note } }: LoggedSnapshot,
  verdicts: ReadonlyMap<TreeHash, readonly CheckVerdict[]>,
): Snapshot {
  const checks = verdicts.get(source);
  return { name, ...note, ...(checks && { checks }) };
}

function notFound(name: string, all: readonly LoggedSnapshot[]): never {
  const names = all.slice(0, maxNamed).map((one) => one.name);
  const rest = names.length === 0 ? 'there are no snapshots' : `there are: ${names.join(', ')}`;
  throw new AppError('E_NOT_FOUND', `snapshot ${JSON.stringify(name)} not found; ${rest}`, {
    details: { snapshots: names },
  });
}
