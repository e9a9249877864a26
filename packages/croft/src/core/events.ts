import type { LifecycleEvent, LifecycleEventName } from '@croft/protocol';

/** `toFields` is only asked when somebody listens. */
export type Emit = (event: LifecycleEventName, toFields: () => Record<string, unknown>) => void;

export interface EventSink {
  write(event: LifecycleEvent): void;
}

export interface EmitterOptions {
  readonly sinks: readonly EventSink[];
  readonly now: () => Date;
  /** Told of the first failure of each sink; more of the same would be noise. */
  onSinkFailure(thrown: unknown): void;
}

/** Numbers and dates the events of one program. A sink that fails never fails the call it tells of. */
export function createEmitter({ sinks, now, onSinkFailure }: EmitterOptions): Emit {
  const failed = new Set<EventSink>();
  let sequence = 0;
  return (event, toFields) => {
    if (sinks.length === 0) return;
    const record = { event, sequence: ++sequence, ts: now().toISOString(), fields: toFields() };
    for (const sink of sinks) {
      try {
        sink.write(record);
      } catch (thrown) {
        if (!failed.has(sink)) onSinkFailure(thrown);
        failed.add(sink);
      }
    }
  };
}

const maxFieldLength = 80;

/** The arguments of a call, short enough to log: whole files do not belong in an event. */
export function summarize(input: unknown): Record<string, unknown> {
  if (typeof input !== 'object' || input === null) return {};
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, shorten(value)]));
}

function shorten(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > maxFieldLength ? `${text.slice(0, maxFieldLength)}…` : text;
}
