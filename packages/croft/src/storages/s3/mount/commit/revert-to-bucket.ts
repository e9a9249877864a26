import { AppError } from '@croft/protocol';
import type { PathChange, TreeEntry, TreePath } from '../../../../core/history/ports/tree.ts';
import { keyOfPath } from '../../layout/object-keys.ts';
import { fetchObject, toPieces } from '../working-copy/fetch-object.ts';
import { findLocalChanges } from '../working-copy/local-changes.ts';
import type { MountContext } from '../working-copy/mount-context.ts';

/** Several attempts, because background programs may change the same files meanwhile. */
const attempts = 3;

/**
 * Reverts the working tree to what the bucket has, because the changes exceed the quota. Returns the reverted paths.
 * Reverts nothing while changes wait for an outage to end: their callers were told that they would be stored.
 */
export async function revertToBucket(context: MountContext, signal?: AbortSignal): Promise<TreePath[]> {
  if (context.manifest.waiting().size > 0) return [];
  for (let attempt = 0; attempt < attempts; attempt++) {
    const { changes } = await findLocalChanges(context, signal);
    const taken = await tryRevert(context, changes, signal);
    if (taken) return taken;
  }
  return [];
}

async function tryRevert(
  context: MountContext,
  changes: readonly PathChange[],
  signal: AbortSignal | undefined,
): Promise<TreePath[] | undefined> {
  const inverse = changes.map(({ path, before, after }) => ({ path, before: after, after: before }));
  const read = (entry: TreeEntry, path: TreePath) => fetchContent(context, { entry, path, signal });
  try {
    const refused = new Set((await context.tree.apply(inverse, { read, signal })).refused);
    return changes.map(({ path }) => path).filter((path) => !refused.has(path));
  } catch (thrown) {
    if (AppError.is(thrown) && thrown.code === 'E_CONFLICT') return undefined;
    throw thrown;
  }
}

/** Fetches a content that this machine has not stored. */
async function* fetchContent(
  context: MountContext,
  { entry, path, signal }: { entry: TreeEntry; path: TreePath; signal: AbortSignal | undefined },
): AsyncIterable<Buffer> {
  const incoming = await fetchObject(context, keyOfPath(path) ?? '', signal);
  await using content = incoming?.content;
  if (!content || content.hash !== entry.hash)
    throw new AppError('E_CONFLICT', `${path} was changed by others meanwhile`, { details: { paths: [path] } });
  yield* toPieces(content);
}
