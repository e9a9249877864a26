import type { TreeEntry, TreeHash, TreePath, TreeScope } from '../../core/history/ports/tree.ts';
import { lineOf } from '../../core/history/trees/listing-codec.ts';
import { sha256 } from '../../lib/crypto/sha256.ts';
import { isIncluded } from '../tree/is-in-scope.ts';
import type { ListingCache } from '../tree/listing-cache.ts';
import {
  childrenInOrder,
  type DirectoryNode,
  type KnownListing,
  type LeafNode,
  lineOfLeaf,
  type TreeNode,
  treePathOf,
} from '../tree/tree-nodes.ts';
import type { ContentBuffer } from './content-buffer.ts';
import type { LeafReader } from './leaf-reader.ts';
import { updateIgnoreRules } from './update-ignore-rules.ts';

export interface CaptureState {
  readonly scope: TreeScope;
  readonly buffer: ContentBuffer;
  readonly reader: LeafReader;
  readonly listings: ListingCache;
  readonly missed: Set<TreePath>;
  /** Directories whose ignore rules are obeyed only in part. */
  readonly cutRules: Set<TreePath>;
  /** Listings that become known once all contents are stored. */
  readonly listed: { node: DirectoryNode; known: KnownListing }[];
  /** Called between pieces of work. Returns a promise if this capture has to wait for its turn. */
  turn(): Promise<void> | undefined;
  /** Counts one more file as read. */
  countRead(): void;
}

export async function readNow(capture: CaptureState, leaf: LeafNode): Promise<boolean> {
  const isComplete = await capture.reader.read(leaf);
  capture.countRead();
  await capture.turn();
  if (capture.buffer.isFull) await capture.buffer.flush();
  return isComplete;
}

interface Listed extends KnownListing {
  /** Whether the listing is complete. If an entry could not be read, the next capture tries again. */
  readonly isComplete: boolean;
}

/** The contribution of one entry to the listing of its directory. An entry without a line is not listed. */
interface ListingPart extends Omit<Listed, 'hash'> {
  readonly line: string | undefined;
}

const nothing: ListingPart = { line: undefined, files: 0, bytes: 0, isComplete: true };

/** Lists a directory, and reads files in it and below it that are new or changed. */
export async function captureDirectory(capture: CaptureState, node: DirectoryNode): Promise<Listed> {
  if (capture.scope === 'source') await readRules(capture, node);
  if (node.isCut) capture.missed.add(treePathOf(node));
  const lines: string[] = [];
  let [files, bytes, isComplete] = [0, 0, true];
  for (const child of childrenInOrder(node)) {
    // Matching many entries against rules takes time too.
    const wait = capture.turn();
    if (wait) await wait;
    if (!isIncluded(child, capture.scope)) continue;
    // Nearly all entries are known, and an await for each would take longer than all the rest.
    const part = knownPart(capture, child) ?? (await findPart(capture, child));
    if (part.line !== undefined) lines.push(part.line);
    files += part.files;
    bytes += part.bytes;
    isComplete &&= part.isComplete;
  }
  const hash = storeLines(capture, lines);
  if (isComplete) capture.listed.push({ node, known: { hash, files, bytes } });
  await capture.turn();
  return { hash, files, bytes, isComplete };
}

async function readRules({ reader, cutRules }: CaptureState, node: DirectoryNode): Promise<void> {
  await updateIgnoreRules(reader, node);
  if (node.rules?.own && node.rules.all?.isCut) cutRules.add(treePathOf(node));
}

function storeLines({ buffer, listings }: CaptureState, lines: readonly string[]): TreeHash {
  const bytes = Buffer.from(lines.join(''), 'latin1');
  const hash = sha256(bytes);
  buffer.add({ hash, size: bytes.byteLength, bytes });
  listings.remember(hash, bytes);
  return hash;
}

function knownPart({ scope, reader }: CaptureState, child: TreeNode): ListingPart | undefined {
  if (child.kind === 'directory') {
    const known = child.listings.get(scope);
    return known && partOf(child, { ...known, isComplete: true });
  }
  if (!child.isFresh || !child.entry || !(child.isStored || reader.isOnlyHashed(child))) return undefined;
  return partOfLeaf(child, child.entry, true);
}

async function findPart(capture: CaptureState, child: TreeNode): Promise<ListingPart> {
  if (child.kind === 'directory') return partOf(child, await captureDirectory(capture, child));
  const isComplete = await readNow(capture, child);
  const isInTree = child.parent?.children.get(child.name) === child;
  return isInTree && child.entry ? partOfLeaf(child, child.entry, isComplete) : { ...nothing, isComplete };
}

function partOf({ name, mode }: DirectoryNode, { hash, ...listed }: Listed): ListingPart {
  return { line: lineOf({ name, kind: 'directory', mode, size: 0, hash }), ...listed };
}

function partOfLeaf(leaf: LeafNode, entry: TreeEntry, isComplete: boolean): ListingPart {
  return { line: lineOfLeaf(leaf, entry), files: 1, bytes: entry.size, isComplete };
}
