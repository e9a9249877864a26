import { z } from 'zod';
import { cutText } from '../../../lib/text/cut-text.ts';
import type { PendingTransaction } from '../ports/transactions.ts';
import type { TreeEntry } from '../ports/tree.ts';
import { printableName } from '../trees/text-diff.ts';

const maxRows = 500;
const maxLines = 50;
const maxDiff = 30_000;

const Row = z.object({ path: z.string(), size: z.int() });

/** The changes of a transaction, as tools answer them. */
export const pendingTransactionOutput = z.object({
  transaction: z.string().describe('For transaction_commit and transaction_discard'),
  expiresAt: z.string(),
  added: z.array(Row),
  modified: z.array(Row),
  deleted: z.array(Row),
  paths: z.int().describe('How many in all; the lists hold 500 each at most'),
  bytes: z.int().describe('Of what it writes'),
  diff: z.string(),
  truncated: z.boolean(),
});
type ChangeSet = z.output<typeof pendingTransactionOutput>;

export function toPendingTransactionOutput({ id, expiresAt, changes, bytes }: PendingTransaction): ChangeSet {
  const rows = (isOne: (before: TreeEntry | undefined, after: TreeEntry | undefined) => boolean) =>
    changes
      .filter(({ before, after }) => isOne(before, after))
      .map(({ path, before, after }) => ({ path: path.toWellFormed(), size: (after ?? before)?.size ?? 0 }));
  const lists = {
    added: rows((before) => !before),
    modified: rows((before, after) => before !== undefined && after !== undefined),
    deleted: rows((_, after) => !after),
  };
  const whole = changes.flatMap(({ text }) => (text === undefined ? [] : [text])).join('');
  const diff = cutText(whole, maxDiff);
  const isCut = diff.length < whole.length || Object.values(lists).some(({ length }) => length > maxRows);
  return {
    ...{ transaction: id, expiresAt, paths: changes.length, bytes, diff, truncated: isCut },
    added: lists.added.slice(0, maxRows),
    modified: lists.modified.slice(0, maxRows),
    deleted: lists.deleted.slice(0, maxRows),
  };
}

/** Renders a change set as text for a model or a person. */
export function renderPendingTransaction({
  added,
  modified,
  deleted,
  paths,
  bytes,
  diff,
  truncated,
}: ChangeSet): string {
  if (paths === 0) return 'nothing would change\n';
  const lines = [
    ...added.map((row) => `A ${printableName(row.path)} (${row.size} bytes)`),
    ...modified.map((row) => `M ${printableName(row.path)} (${row.size} bytes)`),
    ...deleted.map((row) => `D ${printableName(row.path)}`),
  ];
  const more = paths > maxLines ? [`… and ${paths - maxLines} more`] : [];
  const head = `${paths} paths would change, ${bytes} bytes written:`;
  const tail = truncated ? '… (diff cut)\n' : '';
  return `${[head, ...lines.slice(0, maxLines), ...more].join('\n')}\n${diff}${tail}`;
}
