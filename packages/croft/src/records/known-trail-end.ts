import type { ChainLink } from '../core/accounts/ports/audit-chain.ts';

/** Rows that were appended to the audit trail: where it ended before, and where it ends now. */
export interface Appended {
  readonly from: ChainLink;
  readonly to: ChainLink;
}

/**
 * A server that appends this many times without an append of another server takes itself for the only one. With a
 * smaller number, busy servers would think so by chance, and each wrong guess costs all of them a turn.
 */
const aloneBefore = 8;

/** The end of the audit trail, as far as this server knows it. */
export function createKnownTrailEnd() {
  let end: ChainLink | undefined;
  let isContended = false;
  /** How often in succession nobody appended between two appends of this server. */
  let alone = 0;
  return {
    note({ from, to }: Appended): void {
      const isAlone = end?.rows === from.rows && end.hash === from.hash;
      alone = isAlone ? alone + 1 : 0;
      if (alone >= aloneBefore) isContended = false;
      end = to;
    },
    /** Other servers append so often that this one does not know the end for as long as one statement takes. */
    noteContention(): void {
      isContended = true;
    },
    /** Probable end of the trail. */
    expected: (): ChainLink | undefined => (isContended ? undefined : end),
  };
}

export type KnownTrailEnd = ReturnType<typeof createKnownTrailEnd>;
