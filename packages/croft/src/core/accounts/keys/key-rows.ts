import { newId, newSecret } from '../../../lib/ids.ts';
import type { KeyRow } from '../ports/account-tables.ts';
import { readEveryPage } from '../ports/read-every-page.ts';
import type { Tables } from '../ports/records.ts';
import type { KeyView } from '../ports/registry.ts';
import type { Vault } from '../ports/vault.ts';

const secretPrefix = 'croft_';

/**
 * Name of the key that every account begins with. No other key may have it, because rotating the account's secret
 * revokes it.
 */
export const defaultKeyName = 'default';

/**
 * Scope of runner tokens. A token with this scope can connect as a runner and do nothing else; no other key can have
 * it.
 */
export const runnerScope = 'runner';
export const runnerPrefix = 'runner/';

export function isRunnerKey({ name, scopes }: Pick<KeyRow, 'name' | 'scopes'>): boolean {
  return name.startsWith(runnerPrefix) && scopes.length === 1 && scopes[0] === runnerScope;
}

/** Whether a token has the form of a key. The operator may have given the server a token of the same form. */
export function isKeyLike(token: string): boolean {
  return token.startsWith(secretPrefix);
}

type NewKey = Pick<KeyRow, 'accountId' | 'name' | 'scopes' | 'agents' | 'expiresAt'>;

/** Makes a key before the transaction that stores it, because a transaction may run more than once. */
export function makeKey(vault: Vault, key: NewKey, now: Date): { row: KeyRow; secret: string } {
  const secret = newSecret(secretPrefix);
  const row = { ...key, keyId: newId('key'), hash: vault.hash(secret), createdAt: now.toISOString() };
  return { row, secret };
}

export function isLive({ revokedAt, expiresAt }: Pick<KeyRow, 'revokedAt' | 'expiresAt'>, now: Date): boolean {
  return revokedAt === undefined && (expiresAt === undefined || now.getTime() < Date.parse(expiresAt));
}

export async function findLiveKeys(tables: Tables, accountId: string, now: Date): Promise<KeyRow[]> {
  const rows = await readEveryPage((page) => tables.keys.list(accountId, page));
  return rows.filter((row) => isLive(row, now));
}

export function showKey({ hash: _hidden, ...view }: KeyRow): KeyView {
  return view;
}
