import type { AuditRow } from '../../core/accounts/ports/call-tables.ts';
import { findUnusedKey } from '../../core/accounts/sealing/check-server-keys.ts';
import { resealAllRecords } from '../../core/accounts/sealing/reseal-all-records.ts';
import { errorMessage } from '../../lib/error-message.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { createDataDirectories } from './data-directories.ts';
import { openSealedRecords, type SealedRecordsOptions } from './open-records.ts';
import { auditPages } from './server-audit-trail.ts';

/** Opens the records of a server for an operator's command that runs beside the server. */
export async function openRecordsForOperator(options: SealedRecordsOptions) {
  const { records, vault, trail, ring } = await openSealedRecords(options).catch((thrown) => {
    throw new UsageError(`records: ${errorMessage(thrown)}`);
  });
  return {
    resealAllRecords: () => resealAllRecords(records, vault),
    /** The key that was added and has not sealed anything yet. */
    unusedKey: () => findUnusedKey(records, ring.keys),
    directories: createDataDirectories(options.data, records),
    audit: {
      rows: (accountId?: string) => auditRows(accountId),
      verify: (heads: readonly { name: string; text: string }[]) => trail.verify(records, heads),
      head: trail.head,
      accept: () => trail.accept(records),
    },
    async [Symbol.asyncDispose]() {
      await records[Symbol.asyncDispose]();
    },
  };

  async function* auditRows(accountId?: string): AsyncGenerator<AuditRow> {
    for await (const rows of auditPages(records, accountId)) yield* rows;
  }
}
