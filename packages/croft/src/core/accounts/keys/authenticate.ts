import { BoundedMap } from '../../../lib/bounded-map.ts';
import { sha256 } from '../../../lib/crypto/sha256.ts';
import { toScopes } from '../access/must-cover-scopes.ts';
import type { AccountCounts, AccountRow, KeyRow } from '../ports/account-tables.ts';
import type { Tables } from '../ports/records.ts';
import type { Accounts, Actor } from '../ports/registry.ts';
import type { RegistryContext } from '../ports/registry-context.ts';
import { isLive, isRunnerKey } from './key-rows.ts';

const maxTokenLength = 200;
const maxRemembered = 10_000;

/** A valid key, what its actor may do, and the counts of its account when it was read. */
interface Found {
  readonly key: KeyRow;
  readonly rights: Omit<Actor, 'asOf' | 'sessionMoves'>;
  readonly counts: AccountCounts;
}

/**
 * Authenticates a key by a hash of it, so that timing reveals nothing about keys. Every refusal is the same
 * `undefined`: a caller without a valid key learns no reason. A valid key is read again only after something of its
 * account has changed.
 */
export function createAuthenticate(
  { records, vault, now }: RegistryContext,
  status: AccountRow['status'],
): Accounts['authenticate'] {
  const good = new BoundedMap<string, Found>(maxRemembered);

  return async (token) => {
    if (token === '' || token.length > maxTokenLength) return undefined;
    // Only in memory, and much faster than the peppered hash.
    const known = sha256(token);
    const found =
      (await findRemembered(known)) ?? (await records.read((tables) => findIn(tables, vault.hash(token), status)));
    if (found) good.set(known, found);
    else good.delete(known);
    return found && isLive(found.key, now()) ? toActor(found) : undefined;
  };

  async function findRemembered(hash: string): Promise<Found | undefined> {
    const known = good.get(hash);
    if (!known) return undefined;
    const counts = await records.glance(({ accounts }) => accounts.counts(known.key.accountId));
    return known.counts.changes === counts.changes ? { ...known, counts } : undefined;
  }
}

/** The caller that a key stands for, by its id: for browser sessions. */
export function createFindActor({ records, now }: RegistryContext): Accounts['actorOf'] {
  return async (accountId, keyId) => {
    const found = await records.read(async (tables) =>
      toFound(tables, await tables.keys.get(accountId, keyId), 'active'),
    );
    return found && isLive(found.key, now()) ? toActor(found) : undefined;
  };
}

async function findIn(tables: Tables, hash: string, status: AccountRow['status']): Promise<Found | undefined> {
  return toFound(tables, await tables.keys.byHash(hash), status);
}

async function toFound(
  tables: Tables,
  key: KeyRow | undefined,
  status: AccountRow['status'],
): Promise<Found | undefined> {
  if (!key || isRunnerKey(key)) return undefined;
  const account = await tables.accounts.get(key.accountId);
  if (account?.status !== status) return undefined;
  return { key, rights: toRights(key), counts: await tables.accounts.counts(key.accountId) };
}

function toActor({ rights, counts: { changes: asOf, sessionMoves } }: Found): Actor {
  return { ...rights, asOf, sessionMoves };
}

function toRights({ accountId, keyId, scopes, agents, expiresAt }: KeyRow): Found['rights'] {
  const limits = { ...(agents && { agents }), ...(expiresAt && { expiresAt }) };
  return { accountId, label: `key ${keyId}`, scopes: toScopes(scopes), ...limits };
}
