import { join } from 'node:path';
import { checkSeals } from '../core/accounts/check-seals.ts';
import { createVault } from '../core/accounts/create-vault.ts';
import { createKeyring, createTokenHash, type RingKey } from '../lib/crypto/keyring.ts';
import { openRecords } from '../records/index.ts';

export interface SealedOptions {
  readonly data: string;
  /** Left out: SQLite, in the data directory. */
  readonly databaseUrl?: string | undefined;
  readonly keys: { readonly pepper: Buffer; readonly ring: readonly RingKey[] };
}

/** The records, and what opens them. Throws when it does not. */
export async function openSealedRecords({ data, databaseUrl, keys }: SealedOptions) {
  const records = await openRecords(
    databaseUrl === undefined ? { file: join(data, 'croft.db') } : { url: databaseUrl },
  );
  const vault = createVault(createKeyring(keys.ring), createTokenHash(keys.pepper));
  try {
    await checkSeals(records, vault);
    return { records, vault };
  } catch (thrown) {
    await records[Symbol.asyncDispose]();
    throw thrown;
  }
}
