import { createHash, type Hash } from 'node:crypto';
import { fstatSync, readSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { addon } from '../../disk/paths/native-addon.ts';
import { answerQuestions, runAfterSandboxes } from '../../lib/concurrency/worker-thread.ts';
import { type FileIdentity, isSameIdentity } from '../tree/tree-nodes.ts';
import { identityOf, type ReadLeaf, type Unread } from './read-leaf.ts';

export interface HashQuestion {
  /** Descriptor of an open file. The caller keeps it open until the answer. */
  readonly handle: number;
  /** Anything but 0 cancels the request. */
  readonly isCalledOff: Int32Array;
}

export type HashAnswer = ReadLeaf | Unread;

/** After this many bytes another file gets a turn, so that a small file does not wait for a large one. */
const pieceBytes = 1024 * 1024;
const attempts = 3;
const piece = Buffer.alloc(pieceBytes);
const zeros = Buffer.alloc(pieceBytes);

runAfterSandboxes();
answerQuestions(hashFile);

async function hashFile(question: HashQuestion): Promise<HashAnswer> {
  try {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const identity = identityOf(fstatSync(question.handle, { bigint: true }));
      const hash = await hashContent(question, identity);
      if (hash === undefined) continue;
      const { mode, size } = identity;
      return { identity, entry: { kind: 'file', mode, size, hash } };
    }
    return 'changing';
  } catch {
    return 'unreadable';
  }
}

/** Stops as soon as the file changes: a log that grows all the time is not read to its end. */
async function hashContent({ handle, isCalledOff }: HashQuestion, identity: FileIdentity): Promise<string | undefined> {
  const hasher = createHash('sha256');
  for (let at = 0; at < identity.size; ) {
    if (Atomics.load(isCalledOff, 0) !== 0 || !isSame(handle, identity)) return undefined;
    at += hashPiece(hasher, handle, at, identity.size);
    await nextTurn();
  }
  return isSame(handle, identity) ? hasher.digest('hex') : undefined;
}

function isSame(handle: number, identity: FileIdentity): boolean {
  return isSameIdentity(identity, identityOf(fstatSync(handle, { bigint: true })));
}

/** Returns the number of bytes hashed. Holes are not read: they are zeros, and cost their maker nothing. */
function hashPiece(hasher: Hash, handle: number, at: number, size: number): number {
  const found = addon?.seek(handle, at, false) ?? at;
  const hole = Math.min(pieceBytes, (found < 0 ? size : found) - at);
  if (hole > 0) {
    hasher.update(zeros.subarray(0, hole));
    return hole;
  }
  const length = readSync(handle, piece, 0, Math.min(pieceBytes, size - at), at);
  // The file became shorter, which the comparison of identities notices.
  if (length === 0) return size - at;
  hasher.update(piece.subarray(0, length));
  return length;
}
