import { join } from 'node:path';
import type { Records } from '../../core/accounts/ports/records.ts';
import { checkServerKeys } from '../../core/accounts/sealing/check-server-keys.ts';
import { createVault } from '../../core/accounts/sealing/create-vault.ts';
import { mustHaveSealingKeys } from '../../core/accounts/sealing/must-have-sealing-keys.ts';
import { createKeyring, createTokenHash, type RingKey } from '../../lib/crypto/keyring.ts';
import { createKeyringSource } from '../../lib/crypto/keyring-source.ts';
import { openRecords } from '../../records/index.ts';
import { createServerAuditTrail, type ServerAuditTrail } from './server-audit-trail.ts';

export interface SealedRecordsOptions {
  readonly data: string;
  /** Default: SQLite in the data directory. */
  readonly databaseUrl?: string | undefined;
  readonly keys: {
    readonly pepper: Buffer;
    readonly ring: readonly RingKey[];
    /** Reads the ring again from where it is stored. Without it, the ring never changes while the program runs. */
    reread?(): readonly RingKey[];
  };
  /**
   * Set when nothing will be sealed or signed: a missing key is then reported where it is needed, as by the audit
   * trail.
   */
  readonly mayLackKeys?: boolean | undefined;
  /** As `RecordsOptions.reservedBytes`. */
  readonly reservedBytes?: number | undefined;
  /** Called after rows of any account were added to the audit trail, by this program. */
  readonly onAuditRows?: (() => void) | undefined;
  /** Without it, only `croft audit verify` reports that the audit trail was cut. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** Opens the records, the vault that unseals them, and their audit trail. Throws when the keys do not fit. */
export async function openSealedRecords(options: SealedRecordsOptions) {
  const { data, databaseUrl, keys, reservedBytes, onWarning = () => {} } = options;
  const ring = createKeyringSource(keys.ring, keys.reread);
  const trail = createServerAuditTrail({ data, ring, onWarning });
  const records = await openRecords({
    ...(databaseUrl === undefined ? { file: join(data, 'croft.db') } : { url: databaseUrl }),
    audit: {
      ...trail.keeper,
      onStored(...stored) {
        trail.keeper.onStored(...stored);
        options.onAuditRows?.();
      },
    },
    reservedBytes,
  });
  const vault = createVault(createKeyring(ring), createTokenHash(keys.pepper));
  try {
    await mustHaveSealingKeys(records, vault);
    if (!options.mayLackKeys) await checkServerKeys(records, keys);
    return { records: flushHeadOnClose(records, trail), vault, trail, ring };
  } catch (thrown) {
    await records[Symbol.asyncDispose]();
    throw thrown;
  }
}

/** Writes the head of the trail before the records are closed. */
function flushHeadOnClose(records: Records, { flush }: ServerAuditTrail): Records {
  return {
    ...records,
    async [Symbol.asyncDispose]() {
      await flush(records);
      await records[Symbol.asyncDispose]();
    },
  };
}
