import { findBreak } from '../core/accounts/audit-chain.ts';
import type { AuditRow } from '../core/accounts/records.ts';
import { resealAll } from '../core/accounts/reseal.ts';
import { UsageError } from '../lib/usage-error.ts';
import { openSealedRecords, type SealedOptions } from './open-records.ts';

const pageSize = 500;

/** The records of a server, for an operator beside it. */
export async function openSealed(options: SealedOptions) {
  const { records, vault } = await openSealedRecords(options).catch((thrown) => {
    throw new UsageError(`records: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  });
  return { resealAll: () => resealAll(records, vault), auditRows, verifyAudit, [Symbol.asyncDispose]: close };

  async function close(): Promise<void> {
    await records[Symbol.asyncDispose]();
  }

  async function* auditRows(accountId?: string): AsyncGenerator<AuditRow> {
    for await (const rows of auditPages(accountId)) yield* rows;
  }

  async function* auditPages(accountId?: string): AsyncGenerator<readonly AuditRow[]> {
    let after: string | undefined;
    do {
      const page = { limit: pageSize, after };
      const found = await records.read(({ audit }) => audit.list({ accountId }, page));
      yield found.rows;
      after = found.next;
    } while (after !== undefined);
  }

  /** `broken` is the number of the first row that does not follow. */
  async function verifyAudit(): Promise<{ rows: number; broken?: number }> {
    let [rows, last]: [number, AuditRow | undefined] = [0, undefined];
    for await (const page of auditPages()) {
      const broken = findBreak(page, last);
      if (broken) return { rows, broken: broken.sequence };
      rows += page.length;
      last = page.at(-1) ?? last;
    }
    return { rows };
  }
}
