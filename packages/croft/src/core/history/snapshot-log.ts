import { AppError } from '@croft/protocol';
import type { KnownCheck, Snapshot } from './history.ts';
import { type Named, readNotes, SnapshotNote } from './notes.ts';
import { automaticName, checkSnapshotName } from './snapshot-name.ts';
import type { HistoryStore } from './store.ts';
import type { Root } from './tree.ts';

export type LoggedSnapshot = Named<SnapshotNote>;
export type SnapshotLog = ReturnType<typeof createSnapshotLog>;

const maxNamed = 20;
const maxSnapshots = 1000;

/** Snapshots by their names. */
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
    /** Throws `E_NOT_FOUND`, with the names there are. */
    mustFind,
    /** Throws `E_QUOTA`. */
    async mustHaveRoom(): Promise<void> {
      const made = (await list()).filter(({ note }) => !note.isAutomatic).length;
      if (made < maxSnapshots) return;
      throw new AppError('E_QUOTA', `there are ${made} snapshots of this workspace, and no more may be made`);
    },
    /** For one of ours. Two may be wanted within the same moment, and neither replaces the other. */
    async freeName(what: string, at: Date): Promise<string> {
      for (let ms = at.getTime(); ; ms++) {
        const name = automaticName(what, new Date(ms));
        if (!(await find(name))) return name;
      }
    },
    put: (name: string, note: SnapshotNote) => store.keep([], [{ kind: 'snapshot', name, note }]),
    drop: (names: readonly string[]) => store.dropNotes('snapshot', names),
  };
}

export function toSnapshot(
  { name, note: { source, ...note } }: LoggedSnapshot,
  marks: ReadonlyMap<Root, readonly KnownCheck[]>,
): Snapshot {
  const checks = marks.get(source);
  return { name, ...note, ...(checks && { checks }) };
}

function notFound(name: string, all: readonly LoggedSnapshot[]): never {
  const names = all.slice(0, maxNamed).map((one) => one.name);
  const rest = names.length === 0 ? 'there are no snapshots' : `there are: ${names.join(', ')}`;
  throw new AppError('E_NOT_FOUND', `snapshot ${JSON.stringify(name)} not found; ${rest}`, {
    details: { snapshots: names },
  });
}
