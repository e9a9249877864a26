import { AppError } from '@croft/protocol';
import { CheckpointNote, type Named, readNotes } from './notes.ts';
import type { Content, HistoryStore } from './store.ts';

export type LoggedCheckpoint = Named<CheckpointNote>;
export type CheckpointLog = ReturnType<typeof createCheckpointLog>;

const prefix = 'cp_';
const digits = 6;

/** What calls changed, in the order in which it was seen. */
export function createCheckpointLog(store: HistoryStore) {
  let last: number | undefined;

  async function list(): Promise<LoggedCheckpoint[]> {
    const notes = readNotes(CheckpointNote, await store.notes('checkpoint'));
    return notes.sort((a, b) => numberOf(b.name) - numberOf(a.name));
  }

  /** Another server may keep the history of the same directory: what is taken is passed over. */
  async function nextName(): Promise<string> {
    last ??= numberOf((await list())[0]?.name ?? '');
    do last += 1;
    while ((await store.note('checkpoint', toName(last))) !== undefined);
    return toName(last);
  }

  return {
    /** Newest first. */
    list,

    /** Notes it, and by it those that it undoes, all at once. */
    async add(note: CheckpointNote, undoes: readonly LoggedCheckpoint[] = []): Promise<string> {
      const name = await nextName();
      const undone = undoes.map((one) => ({ name: one.name, note: { ...one.note, undoneBy: name } }));
      const notes = [{ name, note }, ...undone].map((one) => ({ kind: 'checkpoint' as const, ...one }));
      await store.keep([], notes);
      return name;
    },

    /** Notes several, in order, with the contents they need, all at once. */
    async addAll(all: readonly CheckpointNote[], contents: readonly Content[]): Promise<void> {
      const notes: { kind: 'checkpoint'; name: string; note: CheckpointNote }[] = [];
      for (const note of all) notes.push({ kind: 'checkpoint', name: await nextName(), note });
      await store.keep(contents, notes);
    },

    drop: (names: readonly string[]) => store.dropNotes('checkpoint', names),
  };
}

/** Those in effect: what is undone is not, unless the undoing was undone. */
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
