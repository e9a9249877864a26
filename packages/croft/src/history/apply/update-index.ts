import { lstatSync } from 'node:fs';
import { fromRaw, type RawName } from '../../core/history/trees/raw-names.ts';
import type { Sighting } from '../../init/followed-tree.ts';
import { type DirectoryFds, nameOf, parentOf } from '../files/directory-fds.ts';
import { entryPathOf, identityOf } from '../files/read-leaf.ts';
import type { TouchedPath, TreeIndex } from '../tree/tree-index.ts';
import { recordRead } from '../tree/tree-nodes.ts';
import type { ApplyPlan } from './plan-changes.ts';

/**
 * Updates the index with what was written, so that the next capture does not read it all. Files written just now are
 * marked racy and read once more.
 */
export async function updateIndex(
  plan: ApplyPlan,
  paths: readonly RawName[],
  index: TreeIndex,
  handles: DirectoryFds,
  lacking: ReadonlySet<string>,
): Promise<TouchedPath[]> {
  const sightings = [...new Set(paths)].map((path) => sightPath(path, handles));
  const touches = await index.absorb({ isWhole: false, sightings, atNs: 0n });
  for (const { raw, after } of plan.values()) {
    const node = index.find(raw);
    if (!after || !node || node.kind === 'directory' || node.kind !== after.kind) continue;
    recordRead(node, { ...after, mode: node.kind === 'link' ? 0o777 : node.identity.mode }, node.identity);
    node.isStored ||= !lacking.has(after.hash);
    index.racy.add(node);
    index.unsaved.add(node);
  }
  return touches;
}

/** Returns what is at a path now. */
export function sightPath(raw: RawName, handles: DirectoryFds): Sighting {
  const path = fromRaw(raw);
  const gone = { path, kind: 'gone', mode: 0, size: 0, inode: 0n, mtimeNs: 0n, ctimeNs: 0n } as const;
  try {
    const entryPath = entryPathOf(handles.fdOf(parentOf(raw)), nameOf(raw));
    const stats = lstatSync(entryPath, { bigint: true, throwIfNoEntry: false });
    if (!stats) return gone;
    const kind = stats.isDirectory()
      ? 'directory'
      : stats.isFile()
        ? 'file'
        : stats.isSymbolicLink()
          ? 'link'
          : 'other';
    return { path, kind, ...identityOf(stats) };
  } catch {
    return gone;
  }
}
