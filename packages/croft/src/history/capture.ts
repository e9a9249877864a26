import { lineOf } from '../core/history/listing.ts';
import type { HistoryStore } from '../core/history/store.ts';
import type { Root, TreePath, TreeScope } from '../core/history/tree.ts';
import type { Captured, CaptureOptions } from '../core/history/working-tree.ts';
import { sha256 } from '../lib/sha256.ts';
import { createProgress, createTurns } from './capture-pace.ts';
import { applyRules } from './capture-rules.ts';
import { createKeeping, type Keeping } from './keeping.ts';
import { createLeafReader, type LeafReader } from './leaf-reader.ts';
import type { Listings } from './listings.ts';
import { createOpenDirectories } from './open-directories.ts';
import { isIncluded, isReached } from './scopes.ts';
import type { TreeIndex } from './tree-index.ts';
import {
  childrenInOrder,
  type DirectoryNode,
  type LeafNode,
  lineOfLeaf,
  markDirty,
  pathOf,
  treePathOf,
} from './tree-nodes.ts';

export interface CaptureMeans {
  readonly index: TreeIndex;
  readonly store: HistoryStore;
  readonly listings: Listings;
  readonly root: number;
  /** Files whose content the store does not have, because it is too large. */
  readonly unkept: Set<LeafNode>;
  /** The kernel's clock before the tree was looked at. */
  readonly atNs: bigint;
}

interface Capture {
  readonly scope: TreeScope;
  readonly options: CaptureOptions;
  readonly keeping: Keeping;
  readonly reader: LeafReader;
  readonly listings: Listings;
  readonly missed: Set<TreePath>;
  /** What is known of directories when everything is kept. */
  readonly listed: { node: DirectoryNode; hash: string }[];
  turn(): Promise<void>;
  /** That one more has been read. */
  tell(): void;
}

/** Reads what is not known, keeps it, and the listings of the directories it is in. */
export async function captureTree(means: CaptureMeans, options: CaptureOptions): Promise<Captured> {
  using directories = createOpenDirectories(means.root);
  const { index, store, listings, unkept, atNs } = means;
  const { scope, maxFileBytes = Number.POSITIVE_INFINITY } = options;
  const keeping = createKeeping(store);
  const missed = new Set<TreePath>();
  for (const leaf of unkept) {
    if (index.find(pathOf(leaf)) !== leaf) unkept.delete(leaf);
    else if (leaf.identity.size <= maxFileBytes) markDirty(leaf.parent);
  }
  const turn = createTurns(options.signal);
  const reader = createLeafReader({ index, store, keeping, directories, unkept, atNs, options, missed });
  const tell = createProgress(index, options);
  const capture: Capture = { scope, options, keeping, reader, listings, missed, listed: [], turn, tell };
  await readRacy(index, capture);
  const { hash } = await list(capture, index.root);
  await keeping.flush();
  for (const { node, hash: known } of capture.listed) node.listings.set(scope, known);
  for (const leaf of unkept) if (isReached(leaf, scope)) missed.add(treePathOf(leaf));
  return { root: hash, missed: [...missed] };
}

/** Once the clock has moved on, what is read is what stays, or a change of it shows. */
async function readRacy(index: TreeIndex, capture: Capture): Promise<void> {
  const racy = [...index.racy];
  for (const leaf of racy) leaf.isFresh = false;
  for (const leaf of racy) if (isReached(leaf, capture.scope)) await readNow(capture, leaf);
}

async function readNow(capture: Capture, leaf: LeafNode): Promise<boolean> {
  const isSettled = await capture.reader.read(leaf);
  capture.tell();
  await capture.turn();
  if (capture.keeping.isFull) await capture.keeping.flush();
  return isSettled;
}

interface Listed {
  readonly hash: Root;
  /** Whether it says what is on the disk: what could not be read is tried again. */
  readonly isSettled: boolean;
}

async function list(capture: Capture, node: DirectoryNode): Promise<Listed> {
  const known = node.listings.get(capture.scope);
  if (known !== undefined) return { hash: known, isSettled: true };
  if (capture.scope === 'source') await applyRules(capture.reader, node);
  if (node.isCut) capture.missed.add(treePathOf(node));
  const lines: string[] = [];
  let isSettled = true;
  for (const child of childrenInOrder(node)) {
    if (!isIncluded(child, capture.scope)) continue;
    const found = child.kind === 'directory' ? await listChild(capture, child) : await readChild(capture, child);
    if (found.line !== undefined) lines.push(found.line);
    isSettled &&= found.isSettled;
  }
  const bytes = Buffer.from(lines.join(''), 'latin1');
  const hash = sha256(bytes);
  capture.keeping.add({ hash, size: bytes.byteLength, bytes });
  capture.listings.learn(hash, bytes);
  if (isSettled) capture.listed.push({ node, hash });
  await capture.turn();
  return { hash, isSettled };
}

interface Line {
  readonly line: string | undefined;
  readonly isSettled: boolean;
}

async function listChild(capture: Capture, child: DirectoryNode): Promise<Line> {
  const { hash, isSettled } = await list(capture, child);
  return { line: lineOf({ name: child.name, kind: 'directory', mode: child.mode, size: 0, hash }), isSettled };
}

async function readChild(capture: Capture, child: LeafNode): Promise<Line> {
  if (child.isFresh && child.entry && (child.isKept || capture.reader.isLeftOut(child)))
    return { line: lineOfLeaf(child, child.entry), isSettled: true };
  const isSettled = await readNow(capture, child);
  const isThere = child.parent?.children.get(child.name) === child;
  return { line: isThere && child.entry ? lineOfLeaf(child, child.entry) : undefined, isSettled };
}
