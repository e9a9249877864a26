import { newId, newSecret } from '../../lib/ids.ts';
import { readEveryPage } from './every-page.ts';
import type { KeyRow, Tables } from './records.ts';
import type { KeyView } from './registry.ts';
import type { Vault } from './vault.ts';

const secretPrefix = 'croft_';

/** The key every account begins with. No other may be called so, because rotating the account's secret ends it. */
export const defaultKeyName = 'default';

/** No key that somebody makes has it: one with this scope opens the socket of runners, and nothing else. */
export const runnerScope = 'runner';
export const runnerPrefix = 'runner/';

export function isRunner({ name, scopes }: Pick<KeyRow, 'name' | 'scopes'>): boolean {
  return name.startsWith(runnerPrefix) && scopes.length === 1 && scopes[0] === runnerScope;
}

type NewKey = Pick<KeyRow, 'accountId' | 'name' | 'scopes' | 'expiresAt'>;

/** Made before the transaction that stores it, which may run more than once. */
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
