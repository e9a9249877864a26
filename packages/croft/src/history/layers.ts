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
import type { ChangedLayer, Layer } from '../core/history/layers.ts';
import type { HistoryStore } from '../core/history/store.ts';
import { openRoot } from '../disk/handles.ts';
import { removeTree } from '../lib/remove-tree.ts';
import { canReach } from '../lib/workspace-owner.ts';
import { type CopyOptions, copyTree, keepTraits } from './copy-tree.ts';
import { findLayerChanges, type LayerSides } from './layer-changes.ts';
import { isMounted, mountsBelow } from './mount-points.ts';
import { mountOverlay, unmount } from './mounting.ts';

export interface LayersOptions {
  /** Of the data directory. Made if it is not there. */
  readonly parent: string;
  /** For a host without overlays, or a test of how it is there. */
  readonly kinds?: readonly Layer['kind'][] | undefined;
}

export interface LayerOptions extends CopyOptions {
  /** An open handle of what it starts as, for as long as the layer is. It is never written to. */
  readonly lower: number;
  /** Where contents of what is changed in it go. */
  readonly store: HistoryStore;
}

export type Layers = ReturnType<typeof createLayers>;

/** Layers of this server, which end with it: what one left that was killed is swept by the next. */
export function createLayers({ parent: wanted, kinds = ['overlay', 'copy'] }: LayersOptions) {
  let parent: string | undefined;
  let hasOverlays = kinds.includes('overlay') && process.getuid?.() === 0;
  const ready = () => (parent ??= prepareParent(wanted));

  return {
    async open(options: LayerOptions): Promise<ChangedLayer> {
      mustReach(ready(), options.lower);
      const place = join(ready(), nameOfMine());
      mkdirSync(place, { mode: 0o711 });
      const beganNs = clockOf(place);
      try {
        const isOverlay = hasOverlays && (await overlay(place, options.lower));
        const madeNs = isOverlay ? beganNs : await copy(place, options);
        return toLayer(place, { beganNs, madeNs }, options);
      } catch (thrown) {
        await removeLayer(place);
        throw thrown;
      }
    },

    /** Takes away what is left of servers that are no more. */
    async sweep(): Promise<void> {
      if (!existsSync(wanted)) return;
      for (const name of readdirSync(ready())) if (isStale(name)) await removeLayer(join(ready(), name));
    },
  };

  /** Whether there is one: a file system that cannot be below an overlay is copied, and so is every other once one failed that always can. */
  async function overlay(place: string, lower: number): Promise<boolean> {
    try {
      await mountOver(place, lower, true);
      return true;
    } catch {
      hasOverlays = await canMount(ready());
      return false;
    }
  }
}

/** Makes what `mountOverlay` needs in a directory of ours. */
export function prepareOverlay(place: string, lower: number): void {
  for (const name of ['upper', 'work', 'merged']) mkdirSync(join(place, name), { mode: 0o700, recursive: true });
  // Sandboxes run as the owner of the root, which is that of the upper directory.
  keepTraits(join(place, 'upper'), fstatSync(lower));
}

async function mountOver(place: string, lower: number, isFleeting: boolean): Promise<void> {
  prepareOverlay(place, lower);
  const handle = openRoot(place);
  try {
    await mountOverlay({ lowers: [lower], place: handle, target: join(place, 'merged'), isFleeting });
  } finally {
    closeSync(handle);
  }
}

/** Answers until when, by the kernel's clock. */
async function copy(place: string, { lower, ...options }: LayerOptions): Promise<bigint> {
  mkdirSync(join(place, 'merged'), { mode: 0o700, recursive: true });
  await copyTree(lower, join(place, 'merged'), options);
  // What is written from now on is later by the kernel's clock, which ticks: only then can the two be told apart.
  const copied = stamp(place);
  while (stamp(place) <= copied) await pause(1);
  return copied;
}

function stamp(place: string): bigint {
  utimesSync(place, new Date(), new Date());
  return clockOf(place);
}

/** By the clock that the kernel writes down changes by, which is not ours: of something that was made just now. */
export function clockOf(path: string): bigint {
  return statSync(path, { bigint: true }).ctimeNs;
}

function toLayer(
  place: string,
  times: Pick<LayerSides, 'beganNs' | 'madeNs'>,
  { lower, store }: LayerOptions,
): ChangedLayer {
  const path = join(place, 'merged');
  const directory = openRoot(path);
  const upper = isMounted(path) ? openRoot(join(place, 'upper')) : undefined;
  const sides: LayerSides = { lower, merged: directory, upper, ...times };
  return {
    ...{ directory, path, kind: upper === undefined ? 'copy' : 'overlay' },
    findChanges: (options) => findLayerChanges(sides, { store, ...options }),
    async [Symbol.asyncDispose]() {
      closeSync(directory);
      if (upper !== undefined) closeSync(upper);
      await removeLayer(place);
    },
  };
}

/** Never through a mount: what is below it may be somebody's workspace. */
async function removeLayer(place: string): Promise<void> {
  for (const mount of mountsBelow(place)) await unmount(mount);
  await removeTree(place);
}

export async function canMount(parent: string): Promise<boolean> {
  const place = join(parent, `${nameOfMine()}-probe`);
  mkdirSync(join(place, 'lower'), { recursive: true });
  const lower = openRoot(join(place, 'lower'));
  try {
    await mountOver(place, lower, true);
    return true;
  } catch {
    return false;
  } finally {
    closeSync(lower);
    await removeLayer(place);
  }
}

/** The owner of a workspace has to get through to its layer, and to nothing else. */
export function prepareParent(parent: string): string {
  mkdirSync(parent, { recursive: true, mode: 0o711 });
  if (process.getuid?.() === 0) chmodSync(parent, 0o711);
  return realpathSync(parent);
}

/** A sandbox that ran as somebody else would see files that it may not read, and leave some that the owner may not. */
export function mustReach(parent: string, lower: number): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = fstatSync(lower);
  if (canReach(parent, { uid, gid })) return;
  throw new AppError(
    'E_SANDBOX_UNAVAILABLE',
    'the owner of this workspace has no way to the data directory: keep it where everybody may pass (CROFT_DATA)',
  );
}

function nameOfMine(): string {
  return `${process.pid}-${namespace()}-${randomBytes(6).toString('hex')}`;
}

/** The same number is another process elsewhere, which is not ours to judge. */
function isStale(name: string): boolean {
  const [, pid, where] = /^(\d+)-(\d+)-/.exec(name) ?? [];
  return where === String(namespace()) && statSync(`/proc/${pid}`, { throwIfNoEntry: false }) === undefined;
}

function namespace(): number {
  return statSync('/proc/self/ns/pid').ino;
}
