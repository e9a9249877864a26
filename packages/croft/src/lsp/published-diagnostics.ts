import { z } from 'zod';
import { fromUri } from '../core/code/ports/file-uris.ts';
import { Diagnostic } from '../core/code/ports/protocol-schemas.ts';

const Published = z.object({
  uri: z.string(),
  version: z.int().nullish(),
  diagnostics: z.array(Diagnostic).max(10_000),
});

/** A list without a version counts if no newer one arrives within this time. */
const quietMs = 300;
const maxFiles = 200;

interface Known {
  readonly version: number | undefined;
  readonly at: number;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Stores the diagnostics that a server publishes, and returns those that are about the text which the server has now.
 */
export function createPublishedDiagnostics(root: string) {
  const known = new Map<string, Known>();
  const waiting = new Set<() => void>();

  return {
    receive(params: unknown): void {
      const { data } = Published.safeParse(params);
      const target = data && fromUri(root, data.uri);
      if (!target || !('path' in target) || isOlder(data, known.get(target.path))) return;
      known.delete(target.path);
      known.set(target.path, {
        version: data.version ?? undefined,
        at: performance.now(),
        diagnostics: data.diagnostics,
      });
      const [oldest = ''] = known.keys();
      if (known.size > maxFiles) known.delete(oldest);
      for (const wake of waiting) wake();
    },
    /**
     * Waits for the diagnostics of this version of a document, sent after `since`. Returns `undefined` when the time is
     * over: older ones are never returned.
     */
    async wait(path: string, version: number, { since, timeoutMs }: { since: number; timeoutMs: number }) {
      const end = performance.now() + timeoutMs;
      while (performance.now() < end) {
        const found = known.get(path);
        const waitMs = found && isAbout(found, version, since) ? quietLeft(found) : end - performance.now();
        if (found && waitMs <= 0) return found.diagnostics;
        await sleepUntilWoken(waiting, Math.min(end - performance.now(), waitMs));
      }
      return undefined;
    },
  };
}

/** A list that comes late must not hide the one of a later version. */
function isOlder({ version }: z.output<typeof Published>, known: Known | undefined): boolean {
  return typeof version === 'number' && known?.version !== undefined && version < known.version;
}

function isAbout(found: Known, version: number, since: number): boolean {
  return found.version === undefined ? found.at >= since : found.version >= version;
}

/** Time until a list without a version counts. */
function quietLeft({ version, at }: Known): number {
  return version === undefined ? at + quietMs - performance.now() : 0;
}

async function sleepUntilWoken(waiting: Set<() => void>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.max(1, ms));
  waiting.add(resolve);
  await promise;
  waiting.delete(resolve);
  clearTimeout(timer);
}
