import { chmodSync, unlinkSync } from 'node:fs';
import type { TreePath } from '../../core/history/tree.ts';
import type { ObjectHead } from '../../core/objects.ts';
import { inParallel } from '../../lib/in-parallel.ts';
import { isTombstoneListed, listAll, noName } from './compare.ts';
import { createShape } from './fill-shape.ts';
import { type Ground, objectKey } from './ground.ts';
import { fetchIncoming } from './incoming.ts';
import { isMarker, keyOf, pathOfAny } from './keys.ts';
import type { Known } from './manifest.ts';
import { describeObject, toSecond } from './object-entries.ts';
import { createPlacing } from './place.ts';

type Listed = readonly [key: string, object: Omit<ObjectHead, 'metadata'>];

export interface FillOptions {
  /** An empty directory that nobody else knows of. */
  readonly directory: string;
  /** Files of which there is more are only named, until somebody needs them. */
  readonly lazyBytes: number;
  readonly signal?: AbortSignal | undefined;
}

export type FillGround = Pick<Ground, 'objects' | 'namespace' | 'spool' | 'owner' | 'warn' | 'progress'>;

/** Small objects mostly wait for the answer of the bucket. */
const fetchesAtATime = 32;

/** Brings a whole workspace from the bucket, while it is still being listed. Answers what there is, by key. */
export async function fill(ground: FillGround, options: FillOptions): Promise<Map<string, Known>> {
  const known = new Map<string, Known>();
  const placing = createPlacing(ground.owner);
  const shape = createShape(options.directory, placing.directory);
  const late: Listed[] = [];
  const fetch = createFetch(ground, options, shape.spotOf, placing);

  async function take([key, object]: Listed): Promise<void> {
    if (isTombstoneListed(object)) return;
    const path = pathOfAny(key);
    if (path === undefined) return ground.warn(noName(key));
    const admitted = shape.admit(path, isMarker(key));
    if (admitted === 'late') late.push([key, object]);
    if (admitted === 'shadowed') ground.warn(shadowed(path));
    if (admitted !== 'new') return;
    const found = await fetch(key, path, object.size);
    if (found) known.set(key, found);
    ground.progress('open', known.size);
  }

  await inParallel(listAll(ground, options.signal), fetchesAtATime, take);
  for (const [key] of late) {
    const block = shape.blockOf(pathOfAny(key) ?? '');
    if (block === undefined) continue;
    if (known.delete(keyOf(block) ?? '')) unlinkSync(shape.spotOf(block));
    shape.dropFile(block);
    ground.warn(shadowed(block));
  }
  // Not the same list: what is late once more, because a hostile service names it twice, would come round for ever.
  await inParallel([...late], fetchesAtATime, take);
  for (const [key, { kind, mode }] of known)
    if (kind === 'directory' && mode !== 0o755) chmodSync(shape.spotOf(pathOfAny(key) ?? ''), mode);
  return known;
}

function createFetch(
  ground: FillGround,
  { lazyBytes, signal }: FillOptions,
  spotOf: (path: TreePath) => Buffer,
  placing: ReturnType<typeof createPlacing>,
) {
  return async (key: string, path: TreePath, size: number): Promise<Known | undefined> => {
    const named = size > lazyBytes ? await nameOnly(key, path) : undefined;
    if (named) return named;
    const incoming = await fetchIncoming(ground, key, signal);
    await using held = incoming?.held;
    if (held && incoming && !isMarker(key)) await placing.content(spotOf(path), incoming.known, held);
    return incoming?.known;
  };

  /** Only where its hash is known without its content. */
  async function nameOnly(key: string, path: TreePath): Promise<Known | undefined> {
    const there = await ground.objects.head(objectKey(ground, key), signal);
    const { kind, mode, hash } = there ? describeObject(there) : {};
    if (!there || kind !== 'file' || mode === undefined || hash === undefined) return undefined;
    const entry = { kind, mode, size: there.size, hash };
    const modifiedAt = toSecond(there.modifiedAt);
    return { ...entry, etag: there.etag, modifiedAt, hole: await placing.hole(spotOf(path), entry) };
  }
}

function shadowed(path: TreePath): string {
  return `left alone, because there is a directory of the same name: ${path}`;
}
