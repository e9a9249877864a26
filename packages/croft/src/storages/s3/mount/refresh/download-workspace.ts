import { chmodSync, unlinkSync } from 'node:fs';
import type { TreePath } from '../../../../core/history/ports/tree.ts';
import type { ObjectHead } from '../../../../core/storage/object-store.ts';
import { inParallel } from '../../../../lib/concurrency/in-parallel.ts';
import { isMarker, keyOfPath, pathOfFileOrMarker } from '../../layout/object-keys.ts';
import { describeObject, toSecond } from '../../layout/object-metadata.ts';
import { fetchObject } from '../working-copy/fetch-object.ts';
import { createLocalFileMaker } from '../working-copy/local-file-maker.ts';
import type { KnownObject } from '../working-copy/manifest.ts';
import { type MountContext, objectKey } from '../working-copy/mount-context.ts';
import { describeForeignKey, isListedTombstone, listWorkspace } from './compare-with-listing.ts';
import { createDownloadedPaths } from './downloaded-paths.ts';

type Listed = readonly [key: string, object: Omit<ObjectHead, 'metadata'>];

interface DownloadWorkspaceOptions {
  /** An empty directory that nobody else uses yet. */
  readonly directory: string;
  /** Files larger than this get a placeholder instead of their content. */
  readonly lazyBytes: number;
  readonly signal?: AbortSignal | undefined;
}

type DownloadContext = Pick<MountContext, 'objects' | 'namespace' | 'spool' | 'owner' | 'warn' | 'progress'>;

/** Fetching small objects is mostly waiting for answers. */
const fetchesAtATime = 32;

/**
 * Downloads a workspace from the bucket into an empty directory, while the listing is still being read. Returns the
 * known state of each object by key.
 */
export async function downloadWorkspace(
  context: DownloadContext,
  options: DownloadWorkspaceOptions,
): Promise<Map<string, KnownObject>> {
  const known = new Map<string, KnownObject>();
  const placing = createLocalFileMaker(context.owner);
  const shape = createDownloadedPaths(options.directory, placing.directory);
  const late: Listed[] = [];
  const fetch = createFetch(context, options, shape.diskPathOf, placing);

  async function take([key, object]: Listed): Promise<void> {
    if (isListedTombstone(object)) return;
    const path = pathOfFileOrMarker(key);
    if (path === undefined) return context.warn(describeForeignKey(key));
    const admitted = shape.admit(path, isMarker(key));
    if (admitted === 'late') late.push([key, object]);
    if (admitted === 'shadowed') context.warn(describeShadowed(path));
    if (admitted !== 'new') return;
    const found = await fetch(key, path, object.size);
    if (found) known.set(key, found);
    context.progress('open', known.size);
  }

  await inParallel(listWorkspace(context, options.signal), fetchesAtATime, take);
  for (const [key] of late) {
    const block = shape.blockOf(pathOfFileOrMarker(key) ?? '');
    if (block === undefined) continue;
    if (known.delete(keyOfPath(block) ?? '')) unlinkSync(shape.diskPathOf(block));
    shape.dropFile(block);
    context.warn(describeShadowed(block));
  }
  // Iterates over a copy: a hostile service could name a late object twice, which would append to the list for ever.
  await inParallel([...late], fetchesAtATime, take);
  for (const [key, { kind, mode }] of known)
    if (kind === 'directory' && mode !== 0o755) chmodSync(shape.diskPathOf(pathOfFileOrMarker(key) ?? ''), mode);
  return known;
}

function createFetch(
  context: DownloadContext,
  { lazyBytes, signal }: DownloadWorkspaceOptions,
  diskPathOf: (path: TreePath) => Buffer,
  placing: ReturnType<typeof createLocalFileMaker>,
) {
  return async (key: string, path: TreePath, size: number): Promise<KnownObject | undefined> => {
    const named = size > lazyBytes ? await nameOnly(key, path) : undefined;
    if (named) return named;
    const incoming = await fetchObject(context, key, signal);
    await using content = incoming?.content;
    if (content && incoming && !isMarker(key)) await placing.content(diskPathOf(path), incoming.known, content);
    return incoming?.known;
  };

  /** Creates a placeholder. Only possible if the metadata says the hash of the content. */
  async function nameOnly(key: string, path: TreePath): Promise<KnownObject | undefined> {
    const current = await context.objects.head(objectKey(context, key), signal);
    const { kind, mode, hash } = current ? describeObject(current) : {};
    if (!current || kind !== 'file' || mode === undefined || hash === undefined) return undefined;
    const entry = { kind, mode, size: current.size, hash };
    const modifiedAt = toSecond(current.modifiedAt);
    return {
      ...entry,
      etag: current.etag,
      modifiedAt,
      placeholder: await placing.placeholder(diskPathOf(path), entry),
    };
  }
}

function describeShadowed(path: TreePath): string {
  return `an object of the bucket was left out, because there is a directory of the same name: ${path}`;
}
