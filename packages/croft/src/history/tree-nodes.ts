import type { IgnoreRules } from '../core/content/gitignore.ts';
import { byName, lineOf } from '../core/history/listing.ts';
import { fromRaw, type RawName } from '../core/history/raw-names.ts';
import type { Root, TreeEntry, TreePath, TreeScope } from '../core/history/tree.ts';

/** By what it is known that a file has not changed. */
export interface Identity {
  readonly inode: bigint;
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly mode: number;
}

interface AnyNode {
  readonly name: RawName;
  parent: DirectoryNode | undefined;
  /** The number of the last whole look that found it. */
  seenIn: number;
  ignored?: { readonly rules: IgnoreRules | undefined; readonly is: boolean } | undefined;
}

export interface LeafNode extends AnyNode {
  readonly kind: 'file' | 'link';
  identity: Identity;
  /** As last read. */
  entry: TreeEntry | undefined;
  line: string | undefined;
  /** Whether `entry` is of this identity. */
  isFresh: boolean;
  /** Whether the store has the content of `entry`. */
  isKept: boolean;
}

/** A listing by its hash, and how much there is in it and below. */
export interface KnownListing {
  readonly hash: Root;
  readonly files: number;
  readonly bytes: number;
}

interface KnownRules {
  readonly own: IgnoreRules['rules'] | undefined;
  readonly above: IgnoreRules | undefined;
  readonly all: IgnoreRules | undefined;
  readonly hash: string | undefined;
}

export interface DirectoryNode extends AnyNode {
  readonly kind: 'directory';
  readonly path: RawName;
  readonly depth: number;
  readonly inode: bigint;
  mode: number;
  readonly children: Map<RawName, TreeNode>;
  /** It is as deep as we go, and there is more below it. */
  isCut: boolean;
  inOrder: TreeNode[] | undefined;
  /** What is known of its listing, where nothing below it has changed since. */
  readonly listings: Map<TreeScope, KnownListing>;
  /** Of its own `.gitignore` and those above, and the hash of the one it was made from. */
  rules: KnownRules | undefined;
}

export type TreeNode = LeafNode | DirectoryNode;

export function newDirectory(
  place: { name: RawName; parent: DirectoryNode | undefined },
  { inode, mode }: Pick<Identity, 'inode' | 'mode'>,
): DirectoryNode {
  const { name, parent } = place;
  const path = parent === undefined || parent.path === '' ? name : `${parent.path}/${name}`;
  const depth = parent ? parent.depth + 1 : 0;
  const empty = { children: new Map(), inOrder: undefined, listings: new Map(), rules: undefined };
  return { kind: 'directory', name, parent, path, depth, inode, mode, isCut: false, seenIn: 0, ...empty };
}

export function pathOf(node: TreeNode): RawName {
  if (node.kind === 'directory') return node.path;
  return node.parent === undefined || node.parent.path === '' ? node.name : `${node.parent.path}/${node.name}`;
}

export function treePathOf(node: TreeNode): TreePath {
  return fromRaw(pathOf(node));
}

/** Whatever was known of the directories it is in is over. */
export function markDirty(from: DirectoryNode | undefined): void {
  for (let node = from; node; node = node.parent) if (node.listings.size > 0) node.listings.clear();
}

export function childrenInOrder(node: DirectoryNode): TreeNode[] {
  node.inOrder ??= [...node.children.values()].sort(byName);
  return node.inOrder;
}

export function addChild(parent: DirectoryNode, node: TreeNode): void {
  parent.children.set(node.name, node);
  parent.inOrder = undefined;
  markDirty(parent);
}

export function dropChild(parent: DirectoryNode, name: RawName): void {
  if (!parent.children.delete(name)) return;
  parent.inOrder = undefined;
  markDirty(parent);
}

/** What was read of a file or a link. */
export function learn(leaf: LeafNode, entry: TreeEntry, identity: Identity): void {
  const { kind, mode, size, hash } = leaf.entry ?? {};
  const isSame = kind === entry.kind && mode === entry.mode && size === entry.size && hash === entry.hash;
  leaf.identity = identity;
  leaf.isFresh = true;
  if (isSame) return;
  if (hash !== entry.hash) leaf.isKept = false;
  leaf.entry = entry;
  leaf.line = undefined;
  markDirty(leaf.parent);
}

export function lineOfLeaf(leaf: LeafNode, entry: TreeEntry): string {
  leaf.line ??= lineOf({ ...entry, name: leaf.name });
  return leaf.line;
}

export function isSameIdentity(one: Identity, other: Identity): boolean {
  return (
    one.inode === other.inode &&
    one.ctimeNs === other.ctimeNs &&
    one.mtimeNs === other.mtimeNs &&
    one.size === other.size &&
    one.mode === other.mode
  );
}
