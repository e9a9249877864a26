import { join } from 'node:path';
import { createAuditAnchor } from '../../core/accounts/audit/audit-anchor.ts';
import { createHeadSeal } from '../../core/accounts/audit/audit-head.ts';
import { type AuditVerdict, type ExpectedHead, verifyAudit } from '../../core/accounts/audit/verify-audit.ts';
import { createKeyedHash } from '../../core/accounts/ports/audit-chain.ts';
import type { AuditRow } from '../../core/accounts/ports/call-tables.ts';
import type { Records } from '../../core/accounts/ports/records.ts';
import type { RingKey } from '../../lib/crypto/keyring.ts';
import type { KeyringSource } from '../../lib/crypto/keyring-source.ts';
import { createSigningRing } from '../../lib/crypto/signing-ring.ts';
import { readFileIfPresent, replacePrivateFileAsync } from '../../lib/files/private-file.ts';

interface AuditTrailOptions {
  readonly data: string;
  readonly ring: readonly RingKey[] | KeyringSource;
  readonly onWarning: (message: string) => void;
}

export type ServerAuditTrail = ReturnType<typeof createServerAuditTrail>;

const pageSize = 500;

/** The audit trail of a server. Its rows are in the records, and its signed head is a file in the data directory. */
export function createServerAuditTrail({ data, ring, onWarning }: AuditTrailOptions) {
  const hash = createKeyedHash(createSigningRing(ring, 'croft audit'));
  const seal = createHeadSeal(createSigningRing(ring, 'croft audit head'));
  // The head is beside the keys.
  const name = join(data, 'audit-head');
  const store = {
    name,
    read: () => readFileIfPresent(name),
    write: (text: string) => replacePrivateFileAsync(name, `${text}\n`),
  };
  const anchor = createAuditAnchor({ seal, store, now: () => new Date(), onWarning });
  return {
    /** The records call it to hash each new row, and to report rows that were written. */
    keeper: { hash: hash.hash, onStored: anchor.onStored },
    checkHead: anchor.check,
    flush: anchor.flush,
    /** The head as stored: one signed line of JSON. */
    head: (): string | undefined => anchor.read()?.trim(),

    /** Verifies the trail against the head stored here and against heads that the operator stored elsewhere. */
    async verify(records: Records, others: readonly { name: string; text: string }[] = []): Promise<AuditVerdict> {
      await anchor.flush(records);
      const text = anchor.read();
      const own = text === undefined ? [] : [{ name: 'the head', text }];
      const heads: ExpectedHead[] = [...own, ...others].map((one) => ({ name: one.name, head: seal.open(one.text) }));
      return verifyAudit(auditPages(records), heads, hash);
    },

    /** The operator accepts the trail as it is now. A row in the trail records it. */
    async accept(records: Records): Promise<void> {
      const details = JSON.stringify({ before: anchor.read()?.trim() });
      const entry = { accountId: '', at: new Date().toISOString(), actor: 'operator', action: 'audit.anchored' };
      await records.change(({ audit }) => audit.append([{ ...entry, target: 'audit-head', details }]));
      await anchor.accept(records);
    },
  };
}

export async function* auditPages(records: Records, accountId?: string): AsyncGenerator<readonly AuditRow[]> {
  let after: string | undefined;
  do {
    const page = { limit: pageSize, after };
    const found = await records.read(({ audit }) => audit.list({ accountId }, page));
    yield found.rows;
    after = found.next;
  } while (after !== undefined);
}
