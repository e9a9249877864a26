import type { LiveSandboxes, OpenSandbox } from '@croft/protocol';

/** Usage of one open sandbox in the last minute, oldest reading first. */
export interface Meter {
  readonly open: OpenSandbox;
  /** Used processors: 1 is one processor all the time. */
  readonly processors: readonly number[];
  readonly memoryBytes: readonly number[];
}

/** A minute, at one reading in two seconds. */
export const mostReadings = 30;

/** Adds a reading to the earlier ones. Drops closed sandboxes. */
export function addReading(
  before: readonly Meter[],
  earlier: LiveSandboxes | undefined,
  { at, open }: LiveSandboxes,
): readonly Meter[] {
  const spanMs = earlier ? Date.parse(at) - Date.parse(earlier.at) : 0;
  return open.map((now) => {
    const known = before.find((meter) => meter.open.id === now.id);
    const used = spanMs > 0 ? processorsIn(spanMs, known?.open.processorMs, now.processorMs) : undefined;
    return {
      open: now,
      processors: append(known?.processors, used),
      memoryBytes: append(known?.memoryBytes, now.memoryBytes ?? undefined),
    };
  });
}

function processorsIn(spanMs: number, before: number | null | undefined, now: number | null): number | undefined {
  if (before == null || now === null) return undefined;
  // The sum over processes misses those that have ended, so it can fall.
  return Math.max(0, now - before) / spanMs;
}

function append(values: readonly number[] = [], value: number | undefined): readonly number[] {
  return value === undefined ? values : [...values, value].slice(-mostReadings);
}
