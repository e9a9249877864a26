import { lstatSync } from 'node:fs';
import { fromRaw, type RawName } from '../core/history/raw-names.ts';
import type { Sighting } from '../init/following.ts';
import type { Plan } from './apply-plan.ts';
import { nameOf, type PathHandles, parentOf } from './path-handles.ts';
import { identityOf, placeOf } from './read-leaf.ts';
import type { Touch, TreeIndex } from './tree-index.ts';
import { learn } from './tree-nodes.ts';

/** Lets the index know what it would otherwise have to read. What was written just now is read once more all the same. */
export async function learnApplied(
  plan: Plan,
  paths: readonly RawName[],
  index: TreeIndex,
  handles: PathHandles,
  lacking: ReadonlySet<string>,
): Promise<Touch[]> {
  const sightings = [...new Set(paths)].map((path) => sight(path, handles));
  const touches = await index.absorb({ isWhole: false, sightings, atNs: 0n });
  for (const { raw, after } of plan.values()) {
    const node = index.find(raw);
    if (!after || !node || node.kind === 'directory' || node.kind !== after.kind) continue;
    learn(node, { ...after, mode: node.kind === 'link' ? 0o777 : node.identity.mode }, node.identity);
    node.isKept ||= !lacking.has(after.hash);
    index.racy.add(node);
    index.unsaved.add(node);
  }
  return touches;
}

function sight(raw: RawName, handles: PathHandles): Sighting {
  const path = fromRaw(raw);
  const gone = { path, kind: 'gone', mode: 0, size: 0, inode: 0n, mtimeNs: 0n, ctimeNs: 0n } as const;
  try {
    const place = placeOf(handles.handleOf(parentOf(raw)), nameOf(raw));
    const stats = lstatSync(place, { bigint: true, throwIfNoEntry: false });
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
