import { sha256 } from '../../../lib/crypto/sha256.ts';
import type { SigningRing } from '../../../lib/crypto/signing-ring.ts';
import type { AuditRow } from './call-tables.ts';

const firstPrevious = '0'.repeat(64);

/** The end of a chain: the number of rows, and the hash of the last row. */
export interface ChainLink {
  readonly rows: number;
  readonly hash: string;
}

export const chainStart: ChainLink = { rows: 0, hash: firstPrevious };

/** Hashes the rows of a trail. */
export interface AuditHash {
  /** Returns a hash that covers the row and, through `previous`, all rows before it. */
  hash(row: Omit<AuditRow, 'hash'>): string;
  /** Returns what is wrong with the hash of a row, or `undefined`. */
  findFlaw(row: AuditRow): string | undefined;
}

/** JSON quotes and separates the fields, so that two different rows never give the same text. */
function toText(row: Omit<AuditRow, 'hash'>): string {
  const { previous, sequence, accountId, at, actor, action, target, details } = row;
  return JSON.stringify([previous, sequence, accountId, at, actor, action, target, details]);
}

const changed = 'it was changed, or does not follow from the row before';

/** Hashes without a key, as all rows of older versions: anybody who can write the database can forge a valid chain. */
export const plainHash: AuditHash = {
  hash: (row) => sha256(toText(row)),
  findFlaw: (row) => (row.hash === sha256(toText(row)) ? undefined : changed),
};

/** Hashes with a key of the server. Recognises rows of the older kind by their hash, which names no key. */
export function createKeyedHash(ring: SigningRing): AuditHash {
  return {
    hash: (row) => ring.sign(toText(row)),
    findFlaw(row) {
      if (!isKeyed(row)) return plainHash.findFlaw(row);
      const signed = ring.check(toText(row), row.hash);
      if (signed === 'unknown key')
        return `it was signed with key ${row.hash.split('.')[0]}, which is not among the keys`;
      return signed === 'valid' ? undefined : changed;
    },
  };
}

export function isKeyed({ hash }: Pick<ChainLink, 'hash'>): boolean {
  return hash.includes('.');
}

/**
 * Returns the first row that does not follow from the one before it, or `undefined`. `last` is the row before the
 * first.
 */
export function findBreak(
  rows: readonly AuditRow[],
  last?: Pick<AuditRow, 'sequence' | 'hash'>,
  { findFlaw }: AuditHash = plainHash,
): AuditRow | undefined {
  let [sequence, previous] = [last?.sequence ?? 0, last?.hash ?? firstPrevious];
  for (const row of rows) {
    if (row.sequence !== sequence + 1 || row.previous !== previous || findFlaw(row) !== undefined) return row;
    [sequence, previous] = [row.sequence, row.hash];
  }
  return undefined;
}
