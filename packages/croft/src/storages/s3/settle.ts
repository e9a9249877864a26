import { AppError } from '@croft/protocol';
import { emptyRoot, type PathChange, type Root, type TreeEntry } from '../../core/history/tree.ts';
import type { Ground } from './ground.ts';
import { advanceHead } from './head.ts';
import { isMarker, pathOfAny } from './keys.ts';
import type { Known } from './manifest.ts';

/** What is now in the bucket for a key. Left out: nothing. */
export interface Settled {
  readonly key: string;
  readonly known?: Known | undefined;
  /** By which commit of ours a tombstone was put there. */
  readonly buriedBy?: string | undefined;
}

/**
 * The end of a commit: everybody is told by the head, and then it is known here, all of it in one step. Before the head
 * nothing was promised; after it everything can be found out again.
 */
export async function settle(
  ground: Ground,
  commit: { id: string; settled: readonly Settled[]; base?: Root | undefined },
  signal?: AbortSignal,
): Promise<void> {
  const { manifest } = ground;
  const { id, settled } = commit;
  const { by, headVersion } = manifest.state();
  const keys = settled.map(({ key }) => key);
  const seen =
    keys.length === 0 ? undefined : await advanceHead(ground.objects, ground.namespace, { id, by, keys }, signal);
  const base = commit.base ?? (await rebase(ground, settled));
  manifest.change(() => {
    for (const one of settled) note(ground, one);
    manifest.setIntent(undefined);
    manifest.setState({ base });
    // With commits of others in between, these are still to be taken in.
    if (seen?.head.version === headVersion + 1)
      manifest.setState({ headVersion: seen.head.version, headEtag: seen.etag });
  });
}

export function note({ manifest }: Ground, { key, known, buriedBy }: Settled): void {
  if (known) manifest.put(key, known);
  else manifest.drop(key);
  if (buriedBy !== undefined) manifest.addTombstone(key, buriedBy);
}

/** The base with these keys as they are in the bucket. Made anew from the manifest if it was cleared away. */
export async function rebase(ground: Ground, settled: readonly Settled[]): Promise<Root> {
  try {
    return await amendBase(ground, settled);
  } catch (thrown) {
    if (!AppError.is(thrown) || thrown.code !== 'E_STORAGE_FAILED') throw thrown;
    return remakeBase(ground, settled);
  }
}

async function remakeBase({ tree, manifest }: Ground, settled: readonly Settled[]): Promise<Root> {
  const all = new Map(manifest.keys().map((key) => [key, manifest.get(key)]));
  for (const { key, known } of settled) all.set(key, known);
  const changes = [...all].flatMap(([key, known]) =>
    known ? [{ path: pathOfAny(key) ?? '', after: plain(known) }] : [],
  );
  return changes.length === 0 ? emptyRoot : tree.amend(emptyRoot, changes);
}

async function amendBase({ tree, manifest }: Ground, settled: readonly Settled[]): Promise<Root> {
  const { base } = manifest.state();
  const changes: PathChange[] = [];
  for (const { key, known } of settled) {
    const path = pathOfAny(key);
    if (path === undefined) continue;
    const before = await tree.entry(base, path);
    const change = isMarker(key) ? changeOfMarker(before, known) : changeOfFile(before, known);
    if (change) changes.push({ path, ...change });
  }
  return changes.length === 0 ? base : tree.amend(base, changes);
}

type Change = Omit<PathChange, 'path'>;

function changeOfFile(before: TreeEntry | undefined, known: Known | undefined): Change | undefined {
  if (known) return { before, after: plain(known) };
  return before && before.kind !== 'directory' ? { before } : undefined;
}

/** Of a directory with something in it the tree knows more than the marker does. */
function changeOfMarker(before: TreeEntry | undefined, known: Known | undefined): Change | undefined {
  return !before && known ? { after: plain(known) } : undefined;
}

export function plain({ kind, mode, size, hash }: TreeEntry): TreeEntry {
  return { kind, mode, size, hash };
}
