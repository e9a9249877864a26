import { createHash } from 'node:crypto';
import { chmodSync, closeSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import type { Content, HistoryStore } from '../../src/core/history/ports/history-store.ts';
import { openRoot } from '../../src/disk/paths/handles.ts';
import { createLayers } from '../../src/history/overlay/layers.ts';
import { makeDirectory } from '../support/harness.ts';

export { mountsIn, unmountBelow } from '../support/mounts.ts';

export const canOverlay = process.getuid?.() === 0;
export const kinds = canOverlay ? (['overlay', 'copy'] as const) : (['copy'] as const);

/** Contents by hash in memory: the part of a store that an overlay needs. */
export function memoryContents() {
  const contents = new Map<string, Buffer>();
  const store = {
    async put(given: readonly Content[]) {
      for (const { hash, bytes } of given) {
        const pieces = typeof bytes === 'function' ? await Array.fromAsync(bytes()) : [bytes];
        const whole = Buffer.concat(pieces);
        if (createHash('sha256').update(whole).digest('hex') !== hash) throw new Error('not what it says');
        contents.set(hash, whole);
      }
    },
  };
  return { contents, store: store as unknown as HistoryStore };
}

/** Makes a workspace, a directory for overlays, and a store of contents. */
export function openLayersFixture(kind: 'overlay' | 'copy', tree: Record<string, string | Buffer> = {}) {
  const workspace = makeDirectory(tree);
  const data = makeDirectory();
  // The owner of the workspace must be able to reach its overlay.
  chmodSync(data.path, 0o711);
  onTestFinished(() => workspace[Symbol.dispose]());
  onTestFinished(() => data[Symbol.dispose]());
  const lower = openRoot(workspace.path);
  onTestFinished(() => closeSync(lower));
  const { store, contents } = memoryContents();
  const layers = createLayers({ parent: data.at('layers'), kinds: kind === 'copy' ? ['copy'] : ['overlay', 'copy'] });
  return { workspace, data, lower, layers, contents, open: () => layers.open({ lowerFd: lower, store }) };
}

/** Describes changes without hashes. */
export function summarizeChanges(changes: readonly { path: string; before?: unknown; after?: unknown }[]) {
  return changes.map(({ path, before, after }) => `${before ? (after ? 'M' : 'D') : 'A'} ${path}`);
}
