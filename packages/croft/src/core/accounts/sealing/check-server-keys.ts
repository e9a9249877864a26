import { AppError } from '@croft/protocol';
import { deriveKey, type RingKey } from '../../../lib/crypto/keyring.ts';
import type { Records } from '../ports/records.ts';

interface CheckedKeys {
  readonly pepper: Buffer;
  readonly ring: readonly RingKey[];
}

const pepperId = 'pepper';

/**
 * Compares the keys of a server with those of the database: every server that shares a database must have all of its
 * keys. The database stores a value derived from each key, which reveals nothing of the key. The first server registers
 * its keys, and each server adds new ones. Throws when a key is missing or different, before anything is sealed.
 */
export async function checkServerKeys(records: Records, { pepper, ring }: CheckedKeys): Promise<void> {
  const own = new Map([{ id: pepperId, key: pepper }, ...ring].map(({ id, key }) => [id, checkOf(key)]));
  await records.change(async ({ keyChecks }) => {
    const known = await keyChecks.all();
    const wrong = known.filter(({ id, check }) => own.get(id) !== check).map(({ id }) => id);
    if (wrong.length > 0) throw lacksKeys(wrong);
    const [first] = ring;
    for (const [id, check] of own) {
      // A database without checks is from an older version: its keys have sealed records.
      const isUsed = known.length === 0 || id === first?.id;
      await keyChecks.put({ id, check, isUsed: isUsed || known.some((one) => one.id === id && one.isUsed) });
    }
  });
}

/** Returns the key that was added but has sealed nothing yet. */
export async function findUnusedKey(records: Records, ring: readonly RingKey[]): Promise<RingKey | undefined> {
  const known = await records.read(({ keyChecks }) => keyChecks.all());
  return ring.find(({ id }) => known.some((one) => one.id === id && !one.isUsed));
}

function checkOf(key: Buffer): string {
  return deriveKey(key, 'croft key check').toString('hex');
}

function lacksKeys(ids: readonly string[]): AppError {
  return new AppError(
    'E_STORAGE_FAILED',
    `this server lacks keys that the other servers of its database have: ${ids.join(', ')}. Nothing was changed. Copy the ` +
      'file keys from the data directory of a server that runs to the data directory of this one, or set CROFT_KEYS to ' +
      'what it is there',
    { details: { keys: [...ids] } },
  );
}
