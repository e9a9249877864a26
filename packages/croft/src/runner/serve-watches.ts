import { AppError } from '@croft/protocol';
import type { FileChange } from '../core/content/change-feed.ts';
import { send } from '../link/methods/body.ts';
import { maxChangesAtOnce, watchWorkspace } from '../link/methods/workspace.ts';
import { type Handlers, type Places, serving, untilAborted } from './serve-means.ts';

/** Paths that wait for a reader who is slow or cut off. The latest of each is kept. */
const maxWaiting = 100_000;

export function serveWatches(places: Places): Handlers {
  return serving(watchWorkspace, async ({ place }, call) => {
    const { watch } = places.get(place);
    if (!watch) throw new AppError('E_NOT_FOUND', 'nobody here can tell what changes in this workspace');
    const waiting = createWaiting(call.signal);
    await watch(waiting.add, call.signal);
    call.tell({ isWatching: true });
    await send(call.writable(0), waiting.lines(), call);
    return untilAborted(call.signal);
  });
}

function createWaiting(signal: AbortSignal) {
  const changes = new Map<string, FileChange>();
  let wake = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => wake.resolve(), { once: true });
  return {
    add(added: readonly FileChange[]): void {
      for (const change of added) {
        // What happened last happens last.
        if (!changes.delete(change.path) && changes.size >= maxWaiting) continue;
        changes.set(change.path, change);
      }
      wake.resolve();
    },
    async *lines(): AsyncGenerator<Buffer> {
      while (!signal.aborted) {
        const batch = [...take(changes.values(), maxChangesAtOnce)];
        for (const { path } of batch) changes.delete(path);
        if (batch.length > 0) yield Buffer.from(`${JSON.stringify(batch)}\n`);
        else {
          await wake.promise;
          wake = Promise.withResolvers<void>();
        }
      }
    },
  };
}

function* take<T>(values: Iterable<T>, count: number): Generator<T> {
  for (const value of values) {
    if (count-- <= 0) return;
    yield value;
  }
}
