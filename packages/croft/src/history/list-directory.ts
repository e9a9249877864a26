import { lineOf } from '../core/history/listing.ts';
import type { Root, TreeEntry, TreePath, TreeScope } from '../core/history/tree.ts';
import { sha256 } from '../lib/sha256.ts';
import { applyRules } from './capture-rules.ts';
import type { Keeping } from './keeping.ts';
import type { LeafReader } from './leaf-reader.ts';
import type { Listings } from './listings.ts';
import { isIncluded } from './scopes.ts';
import {
  childrenInOrder,
  type DirectoryNode,
  type KnownListing,
  type LeafNode,
  lineOfLeaf,
  type TreeNode,
  treePathOf,
} from './tree-nodes.ts';

export interface Capture {
  readonly scope: TreeScope;
  readonly keeping: Keeping;
  readonly reader: LeafReader;
  readonly listings: Listings;
  readonly missed: Set<TreePath>;
  /** What is known of directories when everything is kept. */
  readonly listed: { node: DirectoryNode; known: KnownListing }[];
  turn(): Promise<void>;
  /** That one more has been read. */
  tell(): void;
}

export async function readNow(capture: Capture, leaf: LeafNode): Promise<boolean> {
  const isSettled = await capture.reader.read(leaf);
  capture.tell();
  await capture.turn();
  if (capture.keeping.isFull) await capture.keeping.flush();
  return isSettled;
}

interface Listed extends KnownListing {
  /** Whether it says what is on the disk: what could not be read is tried again. */
  readonly isSettled: boolean;
}

/** What one entry adds to the listing it is in. Without a line it is not there. */
interface Part extends Omit<Listed, 'hash'> {
  readonly line: string | undefined;
}

const nothing: Part = { line: undefined, files: 0, bytes: 0, isSettled: true };

/** Reads what is not known of it and of what is below. */
export async function listDirectory(capture: Capture, node: DirectoryNode): Promise<Listed> {
  if (capture.scope === 'source') await applyRules(capture.reader, node);
  if (node.isCut) capture.missed.add(treePathOf(node));
  const lines: string[] = [];
  let [files, bytes, isSettled] = [0, 0, true];
  for (const child of childrenInOrder(node)) {
    if (!isIncluded(child, capture.scope)) continue;
    // Nearly all is known, and to wait for what is takes longer than all the rest.
    const part = knownPart(capture, child) ?? (await findPart(capture, child));
    if (part.line !== undefined) lines.push(part.line);
    files += part.files;
    bytes += part.bytes;
    isSettled &&= part.isSettled;
  }
  const hash = keepLines(capture, lines);
  if (isSettled) capture.listed.push({ node, known: { hash, files, bytes } });
  await capture.turn();
  return { hash, files, bytes, isSettled };
}

function keepLines({ keeping, listings }: Capture, lines: readonly string[]): Root {
  const bytes = Buffer.from(lines.join(''), 'latin1');
  const hash = sha256(bytes);
  keeping.add({ hash, size: bytes.byteLength, bytes });
  listings.learn(hash, bytes);
  return hash;
}

function knownPart({ scope, reader }: Capture, child: TreeNode): Part | undefined {
  if (child.kind === 'directory') {
    const known = child.listings.get(scope);
    return known && partOf(child, { ...known, isSettled: true });
  }
  if (!child.isFresh || !child.entry || !(child.isKept || reader.isLeftOut(child))) return undefined;
  return partOfLeaf(child, child.entry, true);
}

async function findPart(capture: Capture, child: TreeNode): Promise<Part> {
  if (child.kind === 'directory') return partOf(child, await listDirectory(capture, child));
  const isSettled = await readNow(capture, child);
  const isThere = child.parent?.children.get(child.name) === child;
  return isThere && child.entry ? partOfLeaf(child, child.entry, isSettled) : { ...nothing, isSettled };
}

function partOf({ name, mode }: DirectoryNode, { hash, ...listed }: Listed): Part {
  return { line: lineOf({ name, kind: 'directory', mode, size: 0, hash }), ...listed };
}

function partOfLeaf(leaf: LeafNode, entry: TreeEntry, isSettled: boolean): Part {
  return { line: lineOfLeaf(leaf, entry), files: 1, bytes: entry.size, isSettled };
}
