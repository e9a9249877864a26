import { randomBytes } from 'node:crypto';
import { closeSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import type { HistoryStore } from '../../core/history/store.ts';
import { emptyRoot } from '../../core/history/tree.ts';
import type { WorkingTree } from '../../core/history/working-tree.ts';
import type { ObjectStore } from '../../core/objects.ts';
import { openRoot } from '../../disk/handles.ts';
import { makeWorkspaceDirectory } from '../../lib/workspace-directory.ts';
import { ownerOf } from '../../lib/workspace-owner.ts';
import { readBootId } from './after-restart.ts';
import { fill } from './fill.ts';
import type { Ground, MountPhase } from './ground.ts';
import { readHead } from './head.ts';
import { pathOfAny } from './keys.ts';
import { type Known, type Manifest, openManifest } from './manifest.ts';
import { plain } from './settle.ts';

export interface GroundOptions {
  readonly objects: ObjectStore;
  readonly namespace: string;
  /** Where everything of this workspace is kept on this machine: its files in `files`, and what is known of them. */
  readonly directory: string;
  openTree(handle: number, store: HistoryStore): Promise<WorkingTree>;
  readonly store: HistoryStore;
  /** Larger files are brought when they are needed (8 MiB). */
  readonly lazyBytes?: number | undefined;
  readonly access: 'read-write' | 'read-only';
  onProgress?(phase: MountPhase, done: number, total: number | undefined): void;
  /** For the operator. */
  onWarning?(message: string): void;
}

const lazyBytes = 8 * 1024 * 1024;
const maxWarnings = 1000;

export interface OpenedGround {
  readonly ground: Ground;
  /** It was there before, so that something of it may be old, or not committed yet. */
  readonly isKnown: boolean;
}

/** The working tree of a workspace as this machine last knew it, or brought from the bucket. */
export async function openGround(options: GroundOptions, signal?: AbortSignal): Promise<OpenedGround> {
  const { directory } = options;
  mkdirSync(directory, { recursive: true, mode: 0o711 });
  const manifest = openManifest(join(directory, 'manifest.db'));
  try {
    sweep(directory);
    const files = join(directory, 'files');
    const isKnown = manifest.state().isReady && lstatSync(files, { throwIfNoEntry: false }) !== undefined;
    if (!isKnown) await mustBeConditional(options, signal);
    return isKnown ? await reopen(options, manifest) : await openFirst(options, manifest, signal);
  } catch (thrown) {
    manifest.close();
    throw thrown;
  }
}

async function reopen(options: GroundOptions, manifest: Manifest): Promise<OpenedGround> {
  const ground = await toGround(options, manifest);
  return { ground, isKnown: true };
}

/** Whatever is there was never seen by anybody: the opening that made it did not come to its end. */
async function openFirst(options: GroundOptions, manifest: Manifest, signal?: AbortSignal): Promise<OpenedGround> {
  const { directory, objects, namespace } = options;
  rmSync(join(directory, 'files'), { recursive: true, force: true });
  // Before anything else is read: whatever comes later is seen to be new.
  const head = await readHead(objects, namespace, { signal });
  const opening = makeWorkspaceDirectory(directory, `opening-${randomBytes(8).toString('hex')}`, namespace);
  const known = await fill(toFilling(options, opening), {
    ...{ directory: opening, lazyBytes: options.lazyBytes ?? lazyBytes, signal },
  });
  renameSync(opening, join(directory, 'files'));
  const ground = await toGround(options, manifest);
  const base = await baseOf(ground, known);
  const seen = head === 'unchanged' ? undefined : head;
  manifest.change(() => {
    for (const key of manifest.keys()) manifest.drop(key);
    for (const [key, one] of known) manifest.put(key, one);
    manifest.setIntent(undefined);
    manifest.setWaiting(new Map());
    manifest.setState({ headVersion: seen?.head.version ?? 0, headEtag: seen?.etag ?? '', base });
    manifest.setState({ isReady: true, by: randomBytes(8).toString('hex'), bootId: readBootId() });
  });
  return { ground, isKnown: false };
}

function baseOf({ tree }: Ground, known: ReadonlyMap<string, Known>) {
  const changes = [...known].map(([key, one]) => ({ path: pathOfAny(key) ?? '', after: plain(one) }));
  return changes.length === 0 ? emptyRoot : tree.amend(emptyRoot, changes);
}

async function toGround(options: GroundOptions, manifest: Manifest): Promise<Ground> {
  const handle = openRoot(join(options.directory, 'files'));
  try {
    const tree = await options.openTree(handle, options.store);
    return { ...toShared(options), manifest, tree, handle, owner: ownerOf(handle) };
  } catch (thrown) {
    closeSync(handle);
    throw thrown;
  }
}

function toFilling(options: GroundOptions, directory: string) {
  const handle = openRoot(directory);
  try {
    return { ...toShared(options), owner: ownerOf(handle) };
  } finally {
    closeSync(handle);
  }
}

function toShared({ objects, namespace, directory, onProgress, onWarning }: GroundOptions) {
  const spool = join(directory, 'spool');
  mkdirSync(spool, { recursive: true, mode: 0o700 });
  const told = new Set<string>();
  return {
    ...{ objects, namespace, spool },
    warn(message: string): void {
      if (told.has(message) || told.size >= maxWarnings) return;
      told.add(message);
      onWarning?.(message);
    },
    progress: (phase: MountPhase, done: number, total?: number) => onProgress?.(phase, done, total),
  };
}

/** What an earlier run left on its way in or out. */
function sweep(directory: string): void {
  rmSync(join(directory, 'spool'), { recursive: true, force: true });
  for (const name of readdirSync(directory).filter((found) => found.startsWith('opening-')))
    rmSync(join(directory, name), { recursive: true, force: true });
}

async function mustBeConditional({ objects, access }: GroundOptions, signal?: AbortSignal): Promise<void> {
  if (access === 'read-only') return;
  const { isConditional, reason = 'it ignores them' } = await objects.probe(signal);
  if (isConditional) return;
  throw new AppError(
    'E_STORAGE_FAILED',
    `this bucket cannot be written to by several at once, because its service does not honour conditional writes (${reason}): ` +
      'one would overwrite what another wrote. Use another service for it, or give the agent no sandbox, and it is read-only',
    { details: { isConditional: false } },
  );
}
