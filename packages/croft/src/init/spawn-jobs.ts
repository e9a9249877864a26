import { fromInit, type InitFrame } from './init-frames.ts';

/** A program that the spawner was asked to start. */
export interface SpawnJob {
  readonly id: number;
  /** The text that the program wrote to descriptor 4, up to the first `}`. Rejects if the program ended before. */
  readonly infoText: Promise<string>;
  /** Resolves with the program's messages for people when it has ended and was reaped, or never started. */
  readonly ended: Promise<string>;
}

interface Entry {
  text: string;
  readonly infoText: PromiseWithResolvers<string>;
  readonly ended: PromiseWithResolvers<string>;
}

/**
 * Tracks the programs that the spawner reports about. Calls `onBusy` when the first one is added and when the last one
 * has ended.
 */
export function createSpawnJobs(onBusy: (isBusy: boolean) => void) {
  const entries = new Map<number, Entry>();
  let nextId = 1;

  return {
    add(): SpawnJob {
      const id = nextId++;
      const entry: Entry = { text: '', infoText: Promise.withResolvers(), ended: Promise.withResolvers() };
      // Callers may ignore this promise; its rejection must not end the process.
      entry.infoText.promise.catch(() => {});
      entries.set(id, entry);
      onBusy(true);
      return { id, infoText: entry.infoText.promise, ended: entry.ended.promise };
    },
    has: (id: number) => entries.has(id),
    onFrame({ type, id, payload }: InitFrame): void {
      if (type === fromInit.output) take(id, payload.toString('latin1'));
      if (type === fromInit.exit) finish(id, payload.toString('utf8'));
    },
    finishAll: () => [...entries.keys()].forEach((id) => void finish(id, '')),
  };

  function take(id: number, text: string): void {
    const entry = entries.get(id);
    if (!entry) return;
    entry.text += text;
    if (entry.text.includes('}')) entry.infoText.resolve(entry.text);
  }

  function finish(id: number, words: string): void {
    const entry = entries.get(id);
    entries.delete(id);
    entry?.infoText.reject(new Error('the program ended before it reported its start'));
    entry?.ended.resolve(words);
    if (entries.size === 0) onBusy(false);
  }
}
