import type { AuditRow } from '../ports/call-tables.ts';
import type { Records } from '../ports/records.ts';
import type { Vault } from '../ports/vault.ts';
import { openTitle } from './sealed-call-titles.ts';

/** One chain of audit rows, or the rows of one account in it, read from either end. */
export interface AuditSource {
  /** The sequence number of the newest row of the whole chain; 0 without a row. Asked several times a second. */
  last(): Promise<number>;
  /** The sequence number of the oldest row that is still there. Absent: the chain loses no rows. */
  first?(): Promise<number>;
  /** The first rows after a position, oldest first. */
  after(position: number, limit: number): Promise<readonly AuditRow[]>;
  /** The last rows before a position, newest first. */
  before(position: number, limit: number): Promise<readonly AuditRow[]>;
}

/** The rows of one account in the records, as the account itself may see them. */
export function createRecordsSource(
  { records, vault }: { readonly records: Pick<Records, 'glance'>; readonly vault: Pick<Vault, 'open'> },
  accountId: string,
): AuditSource {
  const open = (row: AuditRow) => openTitle(row, vault);
  return {
    last: async () => (await records.glance(({ audit }) => audit.last()))?.rows ?? 0,
    async after(position, limit) {
      const page = { limit, after: String(position) };
      return (await records.glance(({ audit }) => audit.list({ accountId }, page))).rows.map(open);
    },
    async before(position, limit) {
      const page = { limit, after: String(position) };
      return (await records.glance(({ audit }) => audit.list({ accountId, newestFirst: true }, page))).rows.map(open);
    },
  };
}
