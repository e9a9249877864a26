import { temporaryPrefix } from '../../core/files/temporary-prefix.ts';
import type { TreeEntry, TreePath } from '../../core/history/ports/tree.ts';
import { type RawName, toRaw } from '../../core/history/trees/raw-names.ts';
import type { FollowedChanges, Sighting } from '../../init/followed-tree.ts';
import { createTurns } from '../../lib/concurrency/turns.ts';
import {
  addChild,
  type DirectoryNode,
  dropChild,
  type FileIdentity,
  isSameIdentity,
  type LeafNode,
  markDirty,
  newDirectory,
  pathOf,
  recordRead,
  type TreeNode,
  treePathOf,
} from './tree-nodes.ts';

/** Code that walks the tree recursively uses stack for each level. */
const maxDepth = 1000;

export interface TouchedPath {
  readonly path: TreePath;
  readonly type: 'create' | 'write' | 'remove';
}

/** Returns the saved row of a file from the last run of the server. */
export type Remembered = (path: RawName, sighting: Sighting) => Pick<LeafNode, 'entry' | 'isStored'> | undefined;

/** Names that a directory had before it was listed and that the listing has not confirmed yet. */
type Listed = Map<DirectoryNode, Set<RawName>>;

interface Absorbing {
  readonly touches: TouchedPath[];
  readonly remembered: Remembered | undefined;
  readonly listed: Listed;
}

/** The files of a tree as last scanned, with what was read of them. */
export class TreeIndex {
  readonly root: DirectoryNode = newDirectory({ name: '', parent: undefined }, { inode: 0n, mode: 0o755 });
  readonly directories = new Map<RawName, DirectoryNode>([['', this.root]]);
  /** Files read so soon after a write that they may have been written again without a trace. */
  readonly racy = new Set<LeafNode>();
  /** Files read since this set was last emptied. */
  readonly unsaved = new Set<LeafNode>();
  /** Paths removed since this set was last emptied. */
  readonly removed = new Set<RawName>();
  #looks = 0;
  #absorbed = 0;

  #touched = 0;
  #touchedAtMs = Number.NEGATIVE_INFINITY;

  /** Number of scans or reads that found a change. */
  get touched(): number {
    return this.#touched;
  }

  /** Time of the last change found, by `performance.now()`. */
  get touchedAtMs(): number {
    return this.#touchedAtMs;
  }

  #noteChange(): void {
    this.#touched += 1;
    this.#touchedAtMs = performance.now();
  }

  /** Number of scans absorbed. Files found from now on have a greater `bornIn`. */
  get absorbed(): number {
    return this.#absorbed;
  }

  /** Takes in a scan. Returns the paths that changed. After `signal` has ended it the index is of no more use. */
  async absorb(
    { isWhole, sightings }: FollowedChanges,
    { remembered, signal }: { remembered?: Remembered | undefined; signal?: AbortSignal } = {},
  ): Promise<TouchedPath[]> {
    const touches: TouchedPath[] = [];
    this.#absorbed += 1;
    if (isWhole) this.#looks += 1;
    const turn = createTurns(signal);
    const listed: Listed = new Map();
    for (const sighting of sightings) {
      const wait = turn();
      if (wait) await wait;
      if (sighting.kind === 'listed') this.#seeListed(toRaw(sighting.path), listed);
      else this.#see(sighting, { touches, remembered, listed });
    }
    this.#dropUnlisted(listed, touches);
    if (isWhole) this.#dropUnseen(this.root, touches);
    if (touches.length > 0) this.#noteChange();
    return touches;
  }

  find(path: RawName): TreeNode | undefined {
    if (path === '') return this.root;
    const at = path.lastIndexOf('/');
    return this.directories.get(path.slice(0, Math.max(at, 0)))?.children.get(path.slice(at + 1));
  }

  /** Records the content hash of a file, with the identity under which it was read. */
  recordRead(leaf: LeafNode, entry: TreeEntry, identity: FileIdentity): void {
    if (leaf.identity.size !== identity.size) this.#noteChange();
    recordRead(leaf, entry, identity);
    this.unsaved.add(leaf);
  }

  drop(node: TreeNode, touches?: TouchedPath[]): void {
    this.#forget(node, touches);
    this.#noteChange();
    if (node.parent) dropChild(node.parent, node.name);
  }

  #seeListed(path: RawName, listed: Listed): void {
    const directory = this.directories.get(path);
    if (directory) listed.set(directory, new Set(directory.children.keys()));
  }

  /** Drops the names that the listing of their directory did not confirm. */
  #dropUnlisted(listed: Listed, touches: TouchedPath[]): void {
    for (const [directory, names] of listed) {
      if (this.directories.get(directory.path) !== directory) continue;
      for (const name of names) {
        const child = directory.children.get(name);
        if (child) this.drop(child, touches);
      }
    }
  }

  #see(sighting: Sighting, { touches, remembered, listed }: Absorbing): void {
    const path = toRaw(sighting.path);
    const at = path.lastIndexOf('/');
    const [parent, name] = [this.directories.get(path.slice(0, Math.max(at, 0))), path.slice(at + 1)];
    if (!parent || path === '' || name.startsWith(temporaryPrefix)) return;
    if (parent.depth >= maxDepth) {
      parent.isCut = true;
      return;
    }
    listed.get(parent)?.delete(name);
    const known = parent.children.get(name);
    const isEntry = sighting.kind === 'file' || sighting.kind === 'link' || sighting.kind === 'directory';
    if (known && (!isEntry || known.kind !== sighting.kind)) this.drop(known, touches);
    if (!isEntry) return;
    const still = known?.kind === sighting.kind ? known : undefined;
    if (sighting.kind === 'directory') this.#seeDirectory({ name, parent }, sighting, still, touches);
    else this.#seeLeaf({ name, parent }, sighting, still, touches, remembered?.(path, sighting));
  }

  #seeDirectory(
    position: { name: RawName; parent: DirectoryNode },
    sighting: Sighting,
    known: TreeNode | undefined,
    touches: TouchedPath[],
  ): void {
    if (known?.kind === 'directory' && known.inode === sighting.inode) {
      known.seenIn = this.#looks;
      if (known.mode === sighting.mode) return;
      known.mode = sighting.mode;
      markDirty(known.parent);
      touches.push({ path: sighting.path, type: 'write' });
      return;
    }
    // Another directory has this name now; its entries are reported next.
    if (known) this.drop(known, touches);
    const made = newDirectory(position, sighting);
    made.seenIn = this.#looks;
    this.directories.set(made.path, made);
    addChild(position.parent, made);
    touches.push({ path: sighting.path, type: 'create' });
  }

  #seeLeaf(
    position: { name: RawName; parent: DirectoryNode },
    { path, kind, inode, size, mtimeNs, ctimeNs, mode }: Sighting,
    known: TreeNode | undefined,
    touches: TouchedPath[],
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
    const unread = { entry: undefined, line: undefined, isFresh: remembered?.entry !== undefined, isStored: false };
    const numbers = { seenIn: this.#looks, bornIn: this.#absorbed };
    addChild(position.parent, { ...position, kind, identity, ...numbers, ...unread, ...remembered });
    touches.push({ path, type: 'create' });
  }

  #forget(node: TreeNode, touches: TouchedPath[] | undefined): void {
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

  #dropUnseen(directory: DirectoryNode, touches: TouchedPath[]): void {
    for (const child of [...directory.children.values()]) {
      if (child.seenIn !== this.#looks) this.drop(child, touches);
      else if (child.kind === 'directory') this.#dropUnseen(child, touches);
    }
  }
}
