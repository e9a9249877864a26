import { type AuditHash, type ChainLink, chainStart, isKeyed } from '../ports/audit-chain.ts';
import type { AuditRow } from '../ports/call-tables.ts';
import type { AuditHead } from './audit-head.ts';

/** A head to compare the trail with. */
export interface ExpectedHead {
  /** Origin of the head, for messages. */
  readonly name: string;
  /** Absent when it is not signed with a key of this server. */
  readonly head?: AuditHead | undefined;
}

export interface AuditVerdict {
  readonly isWhole: boolean;
  readonly rows: number;
  /** Number of rows at the start that are hashed without a key. */
  readonly older: number;
  readonly broken?: { readonly row: number; readonly reason: string } | undefined;
  /** Contradictions between the heads and the rows. */
  readonly problems: readonly string[];
  readonly shows: readonly string[];
  readonly cannotShow: readonly string[];
}

/**
 * Checks every row, and that each head is in the chain. `start` is called with each page and returns the row before the
 * first one.
 */
export async function verifyAudit(
  pages: AsyncIterable<readonly AuditRow[]>,
  heads: readonly ExpectedHead[],
  hash: AuditHash,
  start: () => ChainLink | undefined = () => undefined,
): Promise<AuditVerdict> {
  const walk = createWalk(heads, hash);
  for await (const page of pages) {
    walk.begin(start());
    const broken = walk.findBroken(page);
    if (broken) return toVerdict({ ...walk.end(), broken }, heads);
  }
  return toVerdict(walk.end(), heads);
}

/** Walks along the chain and keeps only the rows that are compared with heads. */
function createWalk(heads: readonly ExpectedHead[], { findFlaw }: AuditHash) {
  const wanted = new Set(heads.map(({ head }) => head?.rows));
  // A head vouches for the rows without a key up to it. After it every row must have a key.
  const lastOlder = Math.max(0, ...heads.map(({ head }) => head?.rows ?? 0));
  const found = new Map<number, string>();
  let [last, older, hasKeyed] = [chainStart, 0, false];

  return {
    begin(from: ChainLink | undefined): void {
      if (from && last === chainStart) last = from;
    },
    findBroken(rows: readonly AuditRow[]) {
      for (const row of rows) {
        const reason = findReason(row);
        if (reason !== undefined) return { row: row.sequence, reason };
        last = { rows: row.sequence, hash: row.hash };
        hasKeyed ||= isKeyed(row);
        if (!isKeyed(row)) older += 1;
        if (wanted.has(row.sequence)) found.set(row.sequence, row.hash);
      }
      return undefined;
    },
    end: () => ({ last, older, found, broken: undefined }),
  };

  function findReason(row: AuditRow): string | undefined {
    if (row.sequence !== last.rows + 1 || row.previous !== last.hash) return 'it does not follow from the row before';
    if (!isKeyed(row) && (hasKeyed || (heads.length > 0 && row.sequence > lastOlder)))
      return 'it has no key, and rows have one since the head was made';
    return findFlaw(row);
  }
}

interface Walked {
  readonly last: ChainLink;
  readonly older: number;
  readonly found: ReadonlyMap<number, string>;
  readonly broken: AuditVerdict['broken'];
}

function toVerdict({ last, older, found, broken }: Walked, heads: readonly ExpectedHead[]): AuditVerdict {
  const problems = broken ? [] : [...heads.flatMap((head) => findProblems(head, found)), ...missing(heads, last)];
  const { rows } = last;
  const isWhole = !broken && problems.length === 0;
  return { isWhole, rows, older, broken, problems, ...explain(isWhole, rows, older, heads) };
}

function findProblems({ name, head }: ExpectedHead, found: ReadonlyMap<number, string>): string[] {
  if (!head) return [`${name} is not signed with a key of this server`];
  const { rows, hash, at, cut } = head;
  if (cut)
    return [`the trail was cut: on ${cut.at} row ${rows} was missing or different, and ${cut.rows} rows were left`];
  if (found.get(rows) === hash) return [];
  const words = found.has(rows) ? 'is a different row now' : 'is not there';
  return [`${name} of ${at} says that there were ${rows} rows: row ${rows} ${words}`];
}

function missing(heads: readonly ExpectedHead[], { rows }: ChainLink): string[] {
  if (heads.length > 0 || rows === 0) return [];
  return ['there is no head to compare with: `croft serve` makes one when it starts, and `croft audit anchor` at once'];
}

function explain(isWhole: boolean, rows: number, older: number, heads: readonly ExpectedHead[]) {
  const signed = heads.flatMap(({ head }) => head ?? []);
  const watched = Math.max(0, ...signed.map((head) => head.rows));
  const since = Math.min(rows, ...signed.map((head) => head.since.rows));
  if (!isWhole || rows === 0) return { shows: [], cannotShow: [] };
  return {
    shows: [
      `no row up to ${watched} was changed, put in or taken out after it was kept, but by somebody with the keys of this server`,
    ],
    cannotShow: [
      ...(rows > watched ? [`whether rows after ${rows} were there: the head ends at row ${watched}`] : []),
      ...(since > 0 ? [`whether rows were taken out before the head was first made, at row ${since}`] : []),
      ...(older > 0
        ? [`whether rows 1 to ${older} were rewritten before that: they are of the older kind, without a key`]
        : []),
      'whether rows and head were put back together to an earlier state: compare with a head that is kept elsewhere (--head FILE)',
      'that what a row says is true, or that everything that happened has a row',
    ],
  };
}
