import type { OpenSandbox } from '@croft/protocol';
import { signal } from '@preact/signals';

/** What one sandbox has used lately, for a chart. */
export interface UsageHistory {
  /** In percent of one processor. */
  readonly load: readonly number[];
  readonly memory: readonly number[];
}

interface Sample {
  readonly at: number;
  readonly processorMs: number | undefined;
}

const mostSamples = 60;
const last = new Map<string, Sample>();

export const usageHistories = signal<ReadonlyMap<string, UsageHistory>>(new Map());

/** The same sandbox, opened by the same session, is one line. */
export function keyOfSandbox({ sandboxId, workspaceId, kind, session, person }: OpenSandbox): string {
  return [sandboxId, workspaceId, kind, session ?? person ?? ''].join(' ');
}

export function addToHistory(at: string, open: readonly OpenSandbox[]): void {
  const time = Date.parse(at);
  const next = new Map<string, UsageHistory>();
  for (const sandbox of open) {
    const key = keyOfSandbox(sandbox);
    const { load, memory } = usageHistories.peek().get(key) ?? { load: [], memory: [] };
    const { usage } = sandbox;
    const before = last.get(key);
    last.set(key, { at: time, processorMs: usage?.processorMs });
    const percent = toLoad(before, { at: time, processorMs: usage?.processorMs });
    next.set(key, {
      load: percent === undefined ? load : [...load, percent].slice(-mostSamples),
      memory: usage ? [...memory, usage.memoryBytes].slice(-mostSamples) : memory,
    });
  }
  for (const key of last.keys()) if (!next.has(key)) last.delete(key);
  usageHistories.value = next;
}

function toLoad(before: Sample | undefined, now: Sample): number | undefined {
  if (before?.processorMs === undefined || now.processorMs === undefined || now.at <= before.at) return undefined;
  return Math.max(0, ((now.processorMs - before.processorMs) / (now.at - before.at)) * 100);
}
