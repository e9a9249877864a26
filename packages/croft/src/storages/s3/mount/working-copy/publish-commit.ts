import { AppError } from '@croft/protocol';
import { emptyTreeHash, type PathChange, type TreeEntry, type TreeHash } from '../../../../core/history/ports/tree.ts';
import { isMarker, pathOfFileOrMarker } from '../../layout/object-keys.ts';
import { advanceHead } from '../../layout/workspace-head.ts';
import type { KnownObject } from './manifest.ts';
import type { MountContext } from './mount-context.ts';

/** The new state of a key in the bucket. Without `known`, the key has no object. */
export interface RecordedObject {
  readonly key: string;
  readonly known?: KnownObject | undefined;
  /** Id of our commit that put a tombstone there. */
  readonly buriedBy?: string | undefined;
}

/**
 * Ends a commit: publishes it in the head, then records it in the manifest in one transaction. Before the head was
 * advanced nothing was promised; after it, everything can be found out again.
 */
export async function publishCommit(
  context: MountContext,
  commit: { id: string; settled: readonly RecordedObject[]; base?: TreeHash | undefined },
  signal?: AbortSignal,
): Promise<void> {
  const { manifest } = context;
  const { id, settled: recorded } = commit;
  const { by, headVersion } = manifest.state();
  const keys = recorded.map(({ key }) => key);
  const seen =
    keys.length === 0 ? undefined : await advanceHead(context.objects, context.namespace, { id, by, keys }, signal);
  const base = commit.base ?? (await updateBaseTree(context, recorded));
  manifest.change(() => {
    for (const one of recorded) recordObject(context, one);
    manifest.setIntent(undefined);
    manifest.setState({ base });
    // If others committed in between, their commits must still be applied: the head version stays.
    if (seen?.head.version === headVersion + 1)
      manifest.setState({ headVersion: seen.head.version, headEtag: seen.etag });
  });
}

export function recordObject({ manifest }: MountContext, { key, known, buriedBy }: RecordedObject): void {
  if (known) manifest.put(key, known);
  else manifest.drop(key);
  if (buriedBy !== undefined) manifest.addTombstone(key, buriedBy);
}

/**
 * Returns the base tree with these keys as they are in the bucket. Rebuilds it from the manifest if it was collected.
 */
export async function updateBaseTree(context: MountContext, recorded: readonly RecordedObject[]): Promise<TreeHash> {
  try {
    return await amendBaseTree(context, recorded);
  } catch (thrown) {
    if (!AppError.is(thrown) || thrown.code !== 'E_STORAGE_FAILED') throw thrown;
    return rebuildBaseTree(context, recorded);
  }
}

async function rebuildBaseTree(
  { tree, manifest }: MountContext,
  recorded: readonly RecordedObject[],
): Promise<TreeHash> {
  const all = new Map(manifest.keys().map((key) => [key, manifest.get(key)]));
  for (const { key, known } of recorded) all.set(key, known);
  const changes = [...all].flatMap(([key, known]) =>
    known ? [{ path: pathOfFileOrMarker(key) ?? '', after: toTreeEntry(known) }] : [],
  );
  return changes.length === 0 ? emptyTreeHash : tree.amend(emptyTreeHash, changes);
}

async function amendBaseTree({ tree, manifest }: MountContext, recorded: readonly RecordedObject[]): Promise<TreeHash> {
  const { base } = manifest.state();
  const changes: PathChange[] = [];
  for (const { key, known } of recorded) {
    const path = pathOfFileOrMarker(key);
    if (path === undefined) continue;
    const before = await tree.entry(base, path);
    const change = isMarker(key) ? changeOfMarker(before, known) : changeOfFile(before, known);
    if (change) changes.push({ path, ...change });
  }
  return changes.length === 0 ? base : tree.amend(base, changes);
}

type Change = Omit<PathChange, 'path'>;

function changeOfFile(before: TreeEntry | undefined, known: KnownObject | undefined): Change | undefined {
  if (known) return { before, after: toTreeEntry(known) };
  return before && before.kind !== 'directory' ? { before } : undefined;
}

/** For a directory with entries the tree knows more than its marker. */
function changeOfMarker(before: TreeEntry | undefined, known: KnownObject | undefined): Change | undefined {
  return !before && known ? { after: toTreeEntry(known) } : undefined;
}

export function toTreeEntry({ kind, mode, size, hash }: TreeEntry): TreeEntry {
  return { kind, mode, size, hash };
}
