import type { LifecycleEvent, LifecycleEventName } from '@croft/protocol';

/** `toFields` is called only when the emitter has a sink. */
export type Emit = (event: LifecycleEventName, toFields: () => Record<string, unknown>) => void;

interface EventSink {
  write(event: LifecycleEvent): void;
}

interface EmitterOptions {
  readonly sinks: readonly EventSink[];
  readonly now: () => Date;
  /** Called for the first failure of each sink only; repeats would be noise. */
  onSinkFailure(thrown: unknown): void;
}

/** Numbers and timestamps the events of one program. A failing sink never fails the call that the event is about. */
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
