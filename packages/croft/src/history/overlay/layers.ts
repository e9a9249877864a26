import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '@croft/protocol';
import type { HistoryStore } from '../../core/history/ports/history-store.ts';
import type { DiffableLayer, Layer } from '../../core/history/ports/layers.ts';
import { openRoot } from '../../disk/paths/handles.ts';
import { removeTree } from '../../lib/files/remove-tree.ts';
import { pidNamespace } from '../../lib/files/temporary-directory.ts';
import { canReach } from '../../lib/files/workspace-owner.ts';
import { type CopyOptions, copyTraits, copyTree } from '../files/copy-tree.ts';
import { findLayerChanges, type LayerSides } from './layer-changes.ts';
import { mountOverlay, unmount } from './mount-overlay.ts';
import { isMounted, mountsBelow } from './mount-points.ts';

interface LayersOptions {
  /** A directory in the data directory. It is made if it is missing. */
  readonly parent: string;
  /** The kinds to try. For hosts without overlays, and for tests of that case. */
  readonly kinds?: readonly Layer['kind'][] | undefined;
}

interface LayerOptions extends CopyOptions {
  /** Descriptor of the directory that the layer starts as, open as long as the layer. The layer never writes to it. */
  readonly lowerFd: number;
  /** The store for contents that change in the layer. */
  readonly store: HistoryStore;
}

export type LayerFactory = ReturnType<typeof createLayers>;

/** Opens layers that end with this server. Layers of a killed server are swept by the next one. */
export function createLayers({ parent: wanted, kinds = ['overlay', 'copy'] }: LayersOptions) {
  let parent: string | undefined;
  let hasOverlays = kinds.includes('overlay') && process.getuid?.() === 0;
  const ready = () => (parent ??= prepareLayersDirectory(wanted));

  return {
    async open(options: LayerOptions): Promise<DiffableLayer> {
      mustBeReachableByOwner(ready(), options.lowerFd);
      const directory = join(ready(), nameOfMine());
      mkdirSync(directory, { mode: 0o711 });
      const beganNs = kernelClockOf(directory);
      try {
        const isOverlay = hasOverlays && (await overlay(directory, options.lowerFd));
        const madeNs = isOverlay ? beganNs : await copy(directory, options);
        return toLayer(directory, { beganNs, madeNs }, options);
      } catch (thrown) {
        await removeLayer(directory);
        throw thrown;
      }
    },

    /** Deletes layers of servers that have ended. */
    async sweep(): Promise<void> {
      if (!existsSync(wanted)) return;
      for (const name of readdirSync(ready())) if (isStale(name)) await removeLayer(join(ready(), name));
    },
  };

  /**
   * Mounts an overlay. Returns false if the file system cannot be below one, and the layer is a copy then. If a probe
   * shows that no overlay can be mounted at all, all later layers are copies.
   */
  async function overlay(directory: string, lower: number): Promise<boolean> {
    try {
      await mountOver(directory, lower, true);
      return true;
    } catch {
      hasOverlays = await canMountOverlay(ready());
      return false;
    }
  }
}

/** Makes the directories that `mountOverlay` needs. */
export function prepareOverlay(layerPath: string, lower: number): void {
  for (const name of ['upper', 'work', 'merged']) mkdirSync(join(layerPath, name), { mode: 0o700, recursive: true });
  // The upper directory gets the owner of the workspace root, because sandboxes run as that owner.
  copyTraits(join(layerPath, 'upper'), fstatSync(lower));
}

async function mountOver(layerPath: string, lower: number, isFleeting: boolean): Promise<void> {
  prepareOverlay(layerPath, lower);
  const layerFd = openRoot(layerPath);
  try {
    await mountOverlay({
      lowers: [lower],
      layerFd: layerFd,
      target: join(layerPath, 'merged'),
      isVolatile: isFleeting,
    });
  } finally {
    closeSync(layerFd);
  }
}

/** Copies the workspace. Returns the time of the end of the copy, by the kernel's clock. */
async function copy(layerPath: string, { lowerFd, ...options }: LayerOptions): Promise<bigint> {
  mkdirSync(join(layerPath, 'merged'), { mode: 0o700, recursive: true });
  await copyTree(lowerFd, join(layerPath, 'merged'), options);
  // Waits for a tick of the kernel's clock: only then are files written from now on newer than the copied ones.
  const copied = stamp(layerPath);
  while (stamp(layerPath) <= copied) await pause(1);
  return copied;
}

function stamp(layerPath: string): bigint {
  utimesSync(layerPath, new Date(), new Date());
  return kernelClockOf(layerPath);
}

/**
 * Returns the kernel's clock, from the change time of a path that was changed just now. It differs from our own clock.
 */
export function kernelClockOf(path: string): bigint {
  return statSync(path, { bigint: true }).ctimeNs;
}

function toLayer(
  layerPath: string,
  times: Pick<LayerSides, 'beganNs' | 'madeNs'>,
  { lowerFd, store }: LayerOptions,
): DiffableLayer {
  const path = join(layerPath, 'merged');
  const directoryFd = openRoot(path);
  const upper = isMounted(path) ? openRoot(join(layerPath, 'upper')) : undefined;
  const sides: LayerSides = { lower: lowerFd, merged: directoryFd, upper, ...times };
  return {
    ...{ directoryFd, path, kind: upper === undefined ? 'copy' : 'overlay' },
    findChanges: (options) => findLayerChanges(sides, { store, ...options }),
    async [Symbol.asyncDispose]() {
      closeSync(directoryFd);
      if (upper !== undefined) closeSync(upper);
      await removeLayer(layerPath);
    },
  };
}

/** Unmounts first: below a mount may be somebody's workspace. */
async function removeLayer(layerPath: string): Promise<void> {
  for (const mount of mountsBelow(layerPath)) await unmount(mount);
  await removeTree(layerPath);
}

export async function canMountOverlay(parent: string): Promise<boolean> {
  const layerPath = join(parent, `${nameOfMine()}-probe`);
  mkdirSync(join(layerPath, 'lower'), { recursive: true });
  const lower = openRoot(join(layerPath, 'lower'));
  try {
    await mountOver(layerPath, lower, true);
    return true;
  } catch {
    return false;
  } finally {
    closeSync(lower);
    await removeLayer(layerPath);
  }
}

/** Makes the directory passable, but not readable, for the owners of workspaces. */
export function prepareLayersDirectory(parent: string): string {
  mkdirSync(parent, { recursive: true, mode: 0o711 });
  if (process.getuid?.() === 0) chmodSync(parent, 0o711);
  return realpathSync(parent);
}

/**
 * Throws if the owner of the workspace cannot reach the layers. A sandbox that ran as another user would see files that
 * it may not read, and leave files that the owner may not touch.
 */
export function mustBeReachableByOwner(parent: string, lower: number): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = fstatSync(lower);
  if (canReach(parent, { uid, gid })) return;
  throw new AppError('E_SANDBOX_UNAVAILABLE', 'the owner of this workspace cannot reach the data directory', {
    hint: 'Nothing was done. Ask the operator to put it where every user may pass: --data DIR or CROFT_DATA.',
  });
}

function nameOfMine(): string {
  return `${process.pid}-${pidNamespace()}-${randomBytes(6).toString('hex')}`;
}

/**
 * Whether the process that made the layer has ended. In another pid namespace the same pid is another process, which
 * cannot be checked from here.
 */
function isStale(name: string): boolean {
  const [, pid, where] = /^(\d+)-(\d+)-/.exec(name) ?? [];
  return where === String(pidNamespace()) && statSync(`/proc/${pid}`, { throwIfNoEntry: false }) === undefined;
}
