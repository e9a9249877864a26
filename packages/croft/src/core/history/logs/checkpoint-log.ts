import { AppError } from '@croft/protocol';
import { BoundedMap } from '../../../lib/bounded-map.ts';
import type { Content, HistoryStore, NoteToStore } from '../ports/history-store.ts';
import { CheckpointNote, type Named, readNotes } from './notes.ts';

export type LoggedCheckpoint = Named<CheckpointNote>;
export type CheckpointLog = ReturnType<typeof createCheckpointLog>;

const prefix = 'cp_';
const digits = 6;
const kind = 'checkpoint';
const maxAttempts = 100;
/** Number of calls whose last checkpoint is remembered, for calls that continue after it. */
const maxRecent = 64;

/** The checkpoints of a workspace, in the order in which their changes were captured. */
export function createCheckpointLog(store: HistoryStore) {
  let last: number | undefined;
  const recent = new BoundedMap<string, string>(maxRecent);

  async function list(): Promise<LoggedCheckpoint[]> {
    const notes = readNotes(CheckpointNote, await store.notes('checkpoint'));
    return notes.sort((a, b) => numberOf(b.name) - numberOf(a.name));
  }

  /** Skips names that are taken: another server may write the history of the same directory. */
  async function nextName(): Promise<string> {
    last ??= numberOf((await list())[0]?.name ?? '');
    do last += 1;
    while ((await store.note('checkpoint', toName(last))) !== undefined);
    return toName(last);
  }

  /** Retries with the next name if another process takes the name between the search for a free one and the write. */
  async function addNew<T>(attempt: () => Promise<T>): Promise<T> {
    for (let left = maxAttempts; ; left -= 1) {
      try {
        return await attempt();
      } catch (thrown) {
        if (left === 0 || !(AppError.is(thrown) && thrown.code === 'E_ALREADY_EXISTS')) throw thrown;
      }
    }
  }

  return {
    /** Newest first. */
    list,

    /** Adds a checkpoint and marks the checkpoints that it undoes, in one write. */
    add: (note: CheckpointNote, undoes: readonly LoggedCheckpoint[] = []): Promise<string> =>
      addNew(async () => {
        const name = await nextName();
        const undone = undoes.map(
          (one): NoteToStore => ({ kind, name: one.name, note: { ...one.note, undoneBy: name } }),
        );
        await store.put([], [{ kind, name, note, isNew: true }, ...undone]);
        return name;
      }),

    /** Adds several checkpoints in order, with the contents that they need, in one write. Returns their names. */
    addAll: (all: readonly CheckpointNote[], contents: readonly Content[]): Promise<string[]> =>
      addNew(async () => {
        const notes: { kind: typeof kind; name: string; note: CheckpointNote; isNew: true }[] = [];
        for (const note of all) notes.push({ kind, name: await nextName(), note, isNew: true });
        await store.put(contents, notes);
        for (const { note, name } of notes) recent.set(note.callId, name);
        return notes.map(({ name }) => name);
      }),

    /** Returns the last checkpoint of a call, if the call is a recent one and the checkpoint is not undone. */
    async latestOf(callId: string): Promise<LoggedCheckpoint | undefined> {
      const name = recent.get(callId);
      const note = name === undefined ? undefined : await store.note('checkpoint', name);
      const [found] = name === undefined || !note ? [] : readNotes(CheckpointNote, [{ name, note }]);
      return found?.note.undoneBy === undefined ? found : undefined;
    },

    replace: (name: string, note: CheckpointNote) => store.put([], [{ kind: 'checkpoint', name, note }]),

    drop: (names: readonly string[]) => store.dropNotes('checkpoint', names),
  };
}

/** Returns a test for checkpoints that are undone. A checkpoint whose undo was itself undone is in effect again. */
export function findUndone(all: readonly LoggedCheckpoint[]): (one: LoggedCheckpoint) => boolean {
  const byName = new Map(all.map((one) => [one.name, one]));
  const isUndone = ({ note: { undoneBy } }: LoggedCheckpoint): boolean => {
    if (undoneBy === undefined) return false;
    const by = byName.get(undoneBy);
    return !by || !isUndone(by);
  };
  return isUndone;
}

export function checkpointNotFound(id: string, all: readonly LoggedCheckpoint[]): AppError {
  const known = all.slice(0, 10).map(({ name }) => name);
  const rest = known.length === 0 ? 'there are none' : `the newest are: ${known.join(', ')}`;
  return new AppError('E_NOT_FOUND', `checkpoint ${JSON.stringify(id)} not found; ${rest}`, {
    details: { checkpoints: known },
  });
}

function toName(number: number): string {
  return `${prefix}${String(number).padStart(digits, '0')}`;
}

function numberOf(name: string): number {
  const number = Number(name.slice(prefix.length));
  return name.startsWith(prefix) && Number.isSafeInteger(number) ? number : 0;
}
