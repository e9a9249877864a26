import { createHash } from 'node:crypto';
import { chmodSync, closeSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import type { Content, HistoryStore } from '../../src/core/history/store.ts';
import { openRoot } from '../../src/disk/handles.ts';
import { createLayers } from '../../src/history/layers.ts';
import { makeDirectory } from '../harness.ts';

export { mountsIn, unmountBelow } from '../mounts.ts';

export const canOverlay = process.getuid?.() === 0;
export const kinds = canOverlay ? (['overlay', 'copy'] as const) : (['copy'] as const);

/** Contents by hash, in memory: what a layer needs of a store. */
export function memoryContents() {
  const contents = new Map<string, Buffer>();
  const store = {
    async keep(given: readonly Content[]) {
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

/** A workspace, where layers go, and contents. */
export function layersGround(kind: 'overlay' | 'copy', tree: Record<string, string | Buffer> = {}) {
  const workspace = makeDirectory(tree);
  const data = makeDirectory();
  // Whoever owns the workspace has to get through to its layer.
  chmodSync(data.path, 0o711);
  onTestFinished(() => workspace[Symbol.dispose]());
  onTestFinished(() => data[Symbol.dispose]());
  const lower = openRoot(workspace.path);
  onTestFinished(() => closeSync(lower));
  const { store, contents } = memoryContents();
  const layers = createLayers({ parent: data.at('layers'), kinds: kind === 'copy' ? ['copy'] : ['overlay', 'copy'] });
  return { workspace, data, lower, layers, contents, open: () => layers.open({ lower, store }) };
}

/** What the changes say, without hashes. */
export function told(changes: readonly { path: string; before?: unknown; after?: unknown }[]) {
  return changes.map(({ path, before, after }) => `${before ? (after ? 'M' : 'D') : 'A'} ${path}`);
}
