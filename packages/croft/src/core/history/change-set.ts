import { z } from 'zod';
import { cutText } from '../../lib/text/cut-text.ts';
import { nameOf } from './text-diff.ts';
import type { Transaction } from './transactions.ts';
import type { TreeEntry } from './tree.ts';

const maxRows = 500;
const maxLines = 50;
const maxDiff = 30_000;

const Row = z.object({ path: z.string(), size: z.int() });

/** What a transaction changes, as tools answer it. */
export const changeSetOutput = z.object({
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
export type ChangeSet = z.output<typeof changeSetOutput>;

export function toChangeSet({ id, expiresAt, changes, bytes }: Transaction): ChangeSet {
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

/** As a model or a person reads it. */
export function renderChangeSet({ added, modified, deleted, paths, bytes, diff, truncated }: ChangeSet): string {
  if (paths === 0) return 'nothing would change\n';
  const lines = [
    ...added.map((row) => `A ${nameOf(row.path)} (${row.size} bytes)`),
    ...modified.map((row) => `M ${nameOf(row.path)} (${row.size} bytes)`),
    ...deleted.map((row) => `D ${nameOf(row.path)}`),
  ];
  const more = paths > maxLines ? [`… and ${paths - maxLines} more`] : [];
  const head = `${paths} paths would change, ${bytes} bytes written:`;
  const tail = truncated ? '… (diff cut)\n' : '';
  return `${[head, ...lines.slice(0, maxLines), ...more].join('\n')}\n${diff}${tail}`;
}
