import { type Frame, fromInit } from './frames.ts';

/** What is known of a program that the spawner was asked for. */
export interface SpawnJob {
  readonly id: number;
  /** What it wrote to its handle 4, up to the first `}`. Rejects when it ended before. */
  readonly told: Promise<string>;
  /** What it said to people; when it has ended and was reaped, or never began. */
  readonly gone: Promise<string>;
}

interface Entry {
  text: string;
  readonly told: PromiseWithResolvers<string>;
  readonly gone: PromiseWithResolvers<string>;
}

/** Keeps in mind what the spawner has to tell of. `onBusy` learns when there is something, and when nothing is left. */
export function createSpawnJobs(onBusy: (isBusy: boolean) => void) {
  const entries = new Map<number, Entry>();
  let nextId = 1;

  return {
    add(): SpawnJob {
      const id = nextId++;
      const entry: Entry = { text: '', told: Promise.withResolvers(), gone: Promise.withResolvers() };
      // Whoever asks hears of it; nobody has to.
      entry.told.promise.catch(() => {});
      entries.set(id, entry);
      onBusy(true);
      return { id, told: entry.told.promise, gone: entry.gone.promise };
    },
    has: (id: number) => entries.has(id),
    onFrame({ type, id, payload }: Frame): void {
      if (type === fromInit.output) hear(id, payload.toString('latin1'));
      if (type === fromInit.exit) finish(id, payload.toString('utf8'));
    },
    finishAll: () => [...entries.keys()].forEach((id) => void finish(id, '')),
  };

  function hear(id: number, text: string): void {
    const entry = entries.get(id);
    if (!entry) return;
    entry.text += text;
    if (entry.text.includes('}')) entry.told.resolve(entry.text);
  }

  function finish(id: number, words: string): void {
    const entry = entries.get(id);
    entries.delete(id);
    entry?.told.reject(new Error('it ended before it began'));
    entry?.gone.resolve(words);
    if (entries.size === 0) onBusy(false);
  }
}
