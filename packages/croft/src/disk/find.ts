import { closeSync } from 'node:fs';
import { toSegments } from '../core/path.ts';
import { probeBelow, statOf } from './handles.ts';
import { type Found, type Root, type Spot, walk } from './walk.ts';

/** Where a path leads, for those who only look. */
export type Sight = Pick<Spot, 'path' | 'found'> & Disposable;

/** The same as a walk that follows links, but all of the way at once if there is none. */
export function find(root: Root, path: string): Sight {
  const names = toSegments(path, root.names);
  const found = findStraight(root, names);
  if (!found) return walk(root, path, { follow: true });
  return { path: names.join('/'), found, [Symbol.dispose]: () => closeSync(found.handle) };
}

function findStraight(root: Root, names: readonly string[]): Found | undefined {
  const handle = probeBelow(root.handle, names);
  if (handle === undefined) return undefined;
  const stats = statOf(handle);
  if (!stats.isSymbolicLink()) return { handle, stats };
  closeSync(handle);
  return undefined;
}
