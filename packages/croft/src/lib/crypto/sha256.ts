import { createHash, hash } from 'node:crypto';
import { createTurns } from '../concurrency/turns.ts';

const pieceBytes = 1024 * 1024;

export function sha256(bytes: Uint8Array | string): string {
  return hash('sha256', bytes, 'hex');
}

/** Hashes large data in pieces, so that other work has its turn in between. */
export async function sha256InTurns(bytes: Uint8Array): Promise<string> {
  if (bytes.byteLength <= pieceBytes) return sha256(bytes);
  const [hasher, turn] = [createHash('sha256'), createTurns()];
  for (let at = 0; at < bytes.byteLength; at += pieceBytes) {
    hasher.update(bytes.subarray(at, at + pieceBytes));
    await turn();
  }
  return hasher.digest('hex');
}
