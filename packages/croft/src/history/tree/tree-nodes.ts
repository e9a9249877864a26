import type { IgnoreRules, RuleFile } from '../../core/content/ignore/gitignore.ts';
import type { TreeEntry, TreeHash, TreePath, TreeScope } from '../../core/history/ports/tree.ts';
import { byName, lineOf } from '../../core/history/trees/listing-codec.ts';
import { fromRaw, type RawName } from '../../core/history/trees/raw-names.ts';

/** Fields that are unchanged as long as a file is unchanged. */
export interface FileIdentity {
  readonly inode: bigint;
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly mode: number;
}

interface AnyNode {
  readonly name: RawName;
  parent: DirectoryNode | undefined;
  /** Number of the last whole scan that found the node. */
  seenIn: number;
  ignored?: { readonly rules: IgnoreRules | undefined; readonly is: boolean } | undefined;
}

export interface LeafNode extends AnyNode {
  readonly kind: 'file' | 'link';
  /** Number of the scan that first found it at this path. */
  readonly bornIn: number;
  identity: FileIdentity;
  /** The entry as last read. */
  entry: TreeEntry | undefined;
  line: string | undefined;
  /** Whether `entry` belongs to the current `identity`. */
  isFresh: boolean;
  /** Whether the store has the content of `entry`. */
  isStored: boolean;
}

/** The hash of a listing, and the number of files and bytes in it and below. */
export interface KnownListing {
  readonly hash: TreeHash;
  readonly files: number;
  readonly bytes: number;
}

interface KnownRules {
  readonly own: RuleFile | undefined;
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
  /** Whether the maximum depth is reached and there is more below. */
  isCut: boolean;
  inOrder: TreeNode[] | undefined;
  /** Known listings by scope, as long as nothing below has changed. */
  readonly listings: Map<TreeScope, KnownListing>;
  /** Ignore rules of its own `.gitignore` and those above, and the hash of its own. */
  rules: KnownRules | undefined;
}

export type TreeNode = LeafNode | DirectoryNode;

export function newDirectory(
  location: { name: RawName; parent: DirectoryNode | undefined },
  { inode, mode }: Pick<FileIdentity, 'inode' | 'mode'>,
): DirectoryNode {
  const { name, parent } = location;
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

/** Forgets the listings of this directory and all directories above it. */
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

/** Records the content hash of a file or a link, with the identity under which it was read. */
export function recordRead(leaf: LeafNode, entry: TreeEntry, identity: FileIdentity): void {
  const { kind, mode, size, hash } = leaf.entry ?? {};
  const isSame = kind === entry.kind && mode === entry.mode && size === entry.size && hash === entry.hash;
  leaf.identity = identity;
  leaf.isFresh = true;
  if (isSame) return;
  if (hash !== entry.hash) leaf.isStored = false;
  leaf.entry = entry;
  leaf.line = undefined;
  markDirty(leaf.parent);
}

export function lineOfLeaf(leaf: LeafNode, entry: TreeEntry): string {
  leaf.line ??= lineOf({ ...entry, name: leaf.name });
  return leaf.line;
}

export function isSameIdentity(one: FileIdentity, other: FileIdentity): boolean {
  return (
    one.inode === other.inode &&
    one.ctimeNs === other.ctimeNs &&
    one.mtimeNs === other.mtimeNs &&
    one.size === other.size &&
    one.mode === other.mode
  );
}
