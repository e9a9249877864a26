import { readFileSync } from 'node:fs';
import { LifecycleEvent } from '@croft/protocol';

/**
 * Nothing may block the thread that answers everybody for longer than 50 ms. The processor time of that thread is
 * measured, because on a busy machine the thread also waits for its share of the processor. Twice the limit is allowed:
 * a shared processor has less cache and a lower clock, and a garbage collection may add to it.
 */
export const maxStallMs = 100;

/** Reads the stalls that a server with `--events` reported. */
export function readStalls(eventsFile: string): { durationMs: number; processorMs: number }[] {
  const events = readFileSync(eventsFile, 'utf8').split('\n').filter(Boolean);
  return events
    .map((line) => LifecycleEvent.parse(JSON.parse(line)))
    .filter(({ event }) => event === 'lifecycle.server.stall')
    .map(({ fields }) => ({ durationMs: Number(fields.duration_ms), processorMs: Number(fields.processor_ms) }));
}

/** Returns the longest stall during `work` in processor time; 0 if there was none. */
export async function worstStallDuring(eventsFile: string, work: () => Promise<unknown>): Promise<number> {
  const before = readStalls(eventsFile).length;
  await work();
  const during = readStalls(eventsFile).slice(before);
  return Math.max(0, ...during.map(({ processorMs }) => processorMs));
}
