import { AppError } from '@croft/protocol';
import type { FileChange } from '../core/content/changes/change-feed.ts';
import { sendPieces } from '../link/calls/bounded-streams.ts';
import { maxChangesAtOnce, watchWorkspace } from '../link/methods/workspace.ts';
import { type LinkHandlers, type ServedWorkspaces, serveMethod, untilAborted } from './serve-helpers.ts';

/** The most paths that wait for a slow or disconnected reader. Only the latest change of each path is kept. */
const maxWaiting = 100_000;

export function serveWatches(workspaces: ServedWorkspaces): LinkHandlers {
  return serveMethod(watchWorkspace, async ({ place: handle }, call) => {
    const { watch } = workspaces.get(handle);
    if (!watch) throw new AppError('E_NOT_FOUND', 'this runner cannot watch this workspace for changes');
    const waiting = createChangeQueue(call.signal);
    await watch(waiting.add, call.signal);
    call.sendMessage({ isWatching: true });
    await sendPieces(call.writable(0), waiting.lines(), call);
    return untilAborted(call.signal);
  });
}

function createChangeQueue(signal: AbortSignal) {
  const changes = new Map<string, FileChange>();
  let wake = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => wake.resolve(), { once: true });
  return {
    add(added: readonly FileChange[]): void {
      for (const change of added) {
        // Removes an earlier change of the path, so that the latest change comes last.
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
