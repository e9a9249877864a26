import { createEmitter, type Emit } from '../../core/events/emitter.ts';
import { watchStalls } from '../../lib/concurrency/watch-stalls.ts';
import { errorMessage } from '../../lib/error-message.ts';
import { type JsonLinesFile, openJsonLinesFile } from '../../lib/files/json-lines-file.ts';

/** The main thread answers every caller: nothing may block it for longer than this. */
const stallMs = 50;

interface EventOptions {
  /** Lifecycle events are appended to this file, one JSON line each. Without it, no event is written. */
  readonly eventsFile?: string | undefined;
  onWarning(message: string): void;
}

/** Opens the lifecycle events of the program: a way to emit them, and the file that they are appended to. */
export function openLifecycleEvents({ eventsFile, onWarning }: EventOptions) {
  const sink = eventsFile === undefined ? undefined : openJsonLinesFile(eventsFile);
  const emit = createEmitter({
    sinks: sink ? [sink] : [],
    now: () => new Date(),
    onSinkFailure: (thrown) => onWarning(`events cannot be written to ${eventsFile}: ${thrown}`),
  });
  // Runs only when events are written, because the watcher wakes the program many times a second.
  const stalls = sink && emitStalls(emit);
  return {
    emit,
    reopen: () => reopenEvents(sink, onWarning),
    [Symbol.dispose]() {
      stalls?.[Symbol.dispose]();
      sink?.[Symbol.dispose]();
    },
  };
}

/** Writes the log line after the new file is open: from then on nothing is written to the old file. */
function reopenEvents(sink: JsonLinesFile | undefined, onWarning: EventOptions['onWarning']): void {
  if (!sink) return;
  try {
    sink.reopen();
    onWarning(`events go to ${sink.path}, which was reopened`);
  } catch (thrown) {
    const reason = errorMessage(thrown);
    onWarning(`${reason}; events still go to the file that was open before`);
  }
}

function emitStalls(emit: Emit): Disposable {
  return watchStalls({
    leastMs: stallMs,
    onStall: ({ durationMs, processorMs }) =>
      emit('lifecycle.server.stall', () => ({
        duration_ms: Math.round(durationMs),
        processor_ms: Math.round(processorMs),
      })),
  });
}
