import { AppError } from '@croft/protocol';
import type { Keyring } from '../../../lib/crypto/keyring.ts';
import type { Vault } from '../ports/vault.ts';

export function createVault(ring: Keyring, hash: (token: string) => string): Vault {
  return {
    seal: ring.seal,
    open(sealed, about) {
      try {
        return ring.open(sealed, about);
      } catch (cause) {
        throw new AppError('E_INTERNAL', 'a stored record cannot be opened with the keys of this server', { cause });
      }
    },
    isCurrent: ring.isCurrent,
    hash,
  };
}
