import { setImmediate } from 'node:timers/promises';
import { type RawName, toRaw } from '../core/history/raw-names.ts';
import type { TreePath } from '../core/history/tree.ts';
import { temporaryPrefix } from '../core/temporary.ts';
import type { Sighting, Taken } from '../init/following.ts';
import {
  addChild,
  type DirectoryNode,
  dropChild,
  isSameIdentity,
  type LeafNode,
  markDirty,
  newDirectory,
  pathOf,
  type TreeNode,
  treePathOf,
} from './tree-nodes.ts';

const sightingsPerTurn = 2000;
/** Whoever goes down holds a place for each level. */
const maxDepth = 1000;

export interface Touch {
  readonly path: TreePath;
  readonly type: 'create' | 'write' | 'remove';
}

/** What was known of a file when the server last ran. */
export type Remembered = (path: RawName, sighting: Sighting) => Pick<LeafNode, 'entry' | 'isKept'> | undefined;

/** The files of a tree as they were last seen, with what was read of them. */
export class TreeIndex {
  readonly root: DirectoryNode = newDirectory({ name: '', parent: undefined }, { inode: 0n, mode: 0o755 });
  readonly directories = new Map<RawName, DirectoryNode>([['', this.root]]);
  /** Read so soon after they were written that they may have been written again without it showing. */
  readonly racy = new Set<LeafNode>();
  /** Read since this was last emptied. */
  readonly unsaved = new Set<LeafNode>();
  /** Paths that are gone since this was last emptied. */
  readonly removed = new Set<RawName>();
  #looks = 0;

  /** Answers what has changed by it. */
  async absorb({ isWhole, sightings }: Taken, remembered?: Remembered): Promise<Touch[]> {
    const touches: Touch[] = [];
    if (isWhole) this.#looks += 1;
    for (const [count, sighting] of sightings.entries()) {
      if (count % sightingsPerTurn === sightingsPerTurn - 1) await setImmediate();
      this.#see(sighting, touches, remembered);
    }
    if (isWhole) this.#dropUnseen(this.root, touches);
    return touches;
  }

  find(path: RawName): TreeNode | undefined {
    if (path === '') return this.root;
    const at = path.lastIndexOf('/');
    return this.directories.get(path.slice(0, Math.max(at, 0)))?.children.get(path.slice(at + 1));
  }

  drop(node: TreeNode, touches?: Touch[]): void {
    this.#forget(node, touches);
    if (node.parent) dropChild(node.parent, node.name);
  }

  #see(sighting: Sighting, touches: Touch[], remembered: Remembered | undefined): void {
    const path = toRaw(sighting.path);
    const at = path.lastIndexOf('/');
    const [parent, name] = [this.directories.get(path.slice(0, Math.max(at, 0))), path.slice(at + 1)];
    if (!parent || path === '' || name.startsWith(temporaryPrefix)) return;
    if (parent.depth >= maxDepth) {
      parent.isCut = true;
      return;
    }
    const known = parent.children.get(name);
    const isThing = sighting.kind === 'file' || sighting.kind === 'link' || sighting.kind === 'directory';
    if (known && (!isThing || known.kind !== sighting.kind)) this.drop(known, touches);
    if (!isThing) return;
    const still = known?.kind === sighting.kind ? known : undefined;
    if (sighting.kind === 'directory') this.#seeDirectory({ name, parent }, sighting, still, touches);
    else this.#seeLeaf({ name, parent }, sighting, still, touches, remembered?.(path, sighting));
  }

  #seeDirectory(
    place: { name: RawName; parent: DirectoryNode },
    sighting: Sighting,
    known: TreeNode | undefined,
    touches: Touch[],
  ): void {
    if (known?.kind === 'directory' && known.inode === sighting.inode) {
      known.seenIn = this.#looks;
      if (known.mode === sighting.mode) return;
      known.mode = sighting.mode;
      markDirty(known.parent);
      touches.push({ path: sighting.path, type: 'write' });
      return;
    }
    // Another one of that name, of which everything is still to be seen.
    if (known) this.drop(known, touches);
    const made = newDirectory(place, sighting);
    made.seenIn = this.#looks;
    this.directories.set(made.path, made);
    addChild(place.parent, made);
    touches.push({ path: sighting.path, type: 'create' });
  }

  #seeLeaf(
    place: { name: RawName; parent: DirectoryNode },
    { path, kind, inode, size, mtimeNs, ctimeNs, mode }: Sighting,
    known: TreeNode | undefined,
    touches: Touch[],
    remembered: ReturnType<Remembered>,
  ): void {
    const identity = { inode, size, mtimeNs, ctimeNs, mode };
    if (known && known.kind !== 'directory') {
      known.seenIn = this.#looks;
      if (isSameIdentity(known.identity, identity) && !this.racy.has(known)) return;
      known.identity = identity;
      known.isFresh = false;
      markDirty(known.parent);
      touches.push({ path, type: 'write' });
      return;
    }
    if (kind !== 'file' && kind !== 'link') return;
    const unread = { entry: undefined, line: undefined, isFresh: remembered?.entry !== undefined, isKept: false };
    addChild(place.parent, { ...place, kind, identity, seenIn: this.#looks, ...unread, ...remembered });
    touches.push({ path, type: 'create' });
  }

  #forget(node: TreeNode, touches: Touch[] | undefined): void {
    touches?.push({ path: treePathOf(node), type: 'remove' });
    if (node.kind !== 'directory') {
      this.racy.delete(node);
      this.unsaved.delete(node);
      this.removed.add(pathOf(node));
      return;
    }
    this.directories.delete(node.path);
    for (const child of node.children.values()) this.#forget(child, touches);
  }

  #dropUnseen(directory: DirectoryNode, touches: Touch[]): void {
    for (const child of [...directory.children.values()]) {
      if (child.seenIn !== this.#looks) this.drop(child, touches);
      else if (child.kind === 'directory') this.#dropUnseen(child, touches);
    }
  }
}
