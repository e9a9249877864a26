import type { RegistryContext } from './context.ts';
import { isLive, isRunner } from './key-rows.ts';
import type { AccountRow } from './records.ts';
import type { Accounts } from './registry.ts';
import { toScopes } from './scopes.ts';

const maxTokenLength = 200;

/**
 * Looked up by a peppered hash, so that how long it takes says nothing about a key. Why a key is not good is nobody's
 * business who does not have a good one: every refusal is the same `undefined`.
 */
export function createAuthenticate(
  { records, vault, now }: RegistryContext,
  status: AccountRow['status'],
): Accounts['authenticate'] {
  return async (token) => {
    if (token === '' || token.length > maxTokenLength) return undefined;
    const hash = vault.hash(token);
    return records.read(async (tables) => {
      const key = await tables.keys.byHash(hash);
      if (!key || isRunner(key)) return undefined;
      const account = await tables.accounts.get(key.accountId);
      if (account?.status !== status || !isLive(key, now())) return undefined;
      const { accountId, keyId, scopes, expiresAt } = key;
      return { accountId, label: `key ${keyId}`, scopes: toScopes(scopes), ...(expiresAt && { expiresAt }) };
    });
  };
}
