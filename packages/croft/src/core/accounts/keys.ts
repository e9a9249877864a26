import { AppError, CreateKey } from '@croft/protocol';
import { isId } from '../../lib/ids.ts';
import { mustBeActive } from './account-checks.ts';
import { note } from './audit-log.ts';
import type { RegistryContext } from './context.ts';
import { readEveryPage } from './every-page.ts';
import { defaultKeyName, findLiveKeys, isLive, isRunner, makeKey, showKey } from './key-rows.ts';
import { parseBody } from './parse-body.ts';
import { invalid } from './plain-json.ts';
import type { KeyRow, Tables } from './records.ts';
import { alreadyExists, notFound, overQuota } from './refusals.ts';
import type { Actor, Keys } from './registry.ts';
import { mustCover } from './scopes.ts';

/** A key that ends makes none that goes on. */
export function mustOutlive({ expiresAt: own }: Actor, wanted: string | undefined): void {
  if (own === undefined || (wanted !== undefined && Date.parse(wanted) <= Date.parse(own))) return;
  throw new AppError('E_FORBIDDEN', `this key ends at ${own}: a key it makes has to end by then (expiresAt)`);
}

export function createKeys({ records, vault, now, quotas }: RegistryContext): Keys {
  const tell = (tables: Tables, actor: Actor, what: string, { keyId, name, scopes }: KeyRow, more: object = {}) =>
    note(tables, {
      accountId: actor.accountId,
      at: now(),
      actor: actor.label,
      action: `key.${what}`,
      target: keyId,
      details: { name, scopes, ...more },
    });

  async function mustHaveRoom(tables: Tables, { accountId, name }: KeyRow): Promise<void> {
    const live = (await findLiveKeys(tables, accountId, now())).filter((key) => !isRunner(key));
    const holder = live.find((key) => key.name === name);
    if (holder) throw alreadyExists('Key', name, holder.keyId);
    if (live.length >= quotas.keys) throw overQuota('keys', quotas.keys);
  }

  return {
    async create(actor, body) {
      const given = parseKey(body, now());
      mustCover(actor, given.scopes, 'the new key');
      mustOutlive(actor, given.expiresAt);
      const { row, secret } = makeKey(vault, { accountId: actor.accountId, ...given }, now());
      await records.change(async (tables) => {
        await mustBeActive(tables, actor.accountId);
        await mustHaveRoom(tables, row);
        await tables.keys.insert(row);
        await tell(tables, actor, 'created', row);
      });
      return { key: showKey(row), secret };
    },

    async list({ accountId }, page) {
      const { rows, ...rest } = await records.read((tables) => tables.keys.list(accountId, page));
      return { ...rest, rows: rows.map(showKey) };
    },

    async every(accountId) {
      const rows = await records.read((tables) => readEveryPage((page) => tables.keys.list(accountId, page)));
      return rows.map(showKey);
    },

    async rotate(actor, keyId) {
      const made = makeKey(vault, { accountId: actor.accountId, name: '', scopes: [] }, now());
      const row = await records.change(async (tables) => {
        await mustBeActive(tables, actor.accountId);
        const old = await mustFind(tables, actor, keyId);
        mustBeLive(old, now());
        mustOutlive(actor, old.expiresAt);
        await tables.keys.revoke(actor.accountId, keyId, now().toISOString());
        const { name, scopes, expiresAt } = old;
        const fresh = { ...made.row, name, scopes, ...(expiresAt && { expiresAt }) };
        await tables.keys.insert(fresh);
        await tell(tables, actor, 'rotated', old, { newKeyId: fresh.keyId });
        return fresh;
      });
      return { key: showKey(row), secret: made.secret };
    },

    async revoke(actor, keyId) {
      await records.change(async (tables) => {
        const row = await mustFind(tables, actor, keyId);
        // Revoking twice comes to the same, and is told once.
        if (!(await tables.keys.revoke(actor.accountId, keyId, now().toISOString()))) return;
        await tell(tables, actor, 'revoked', row);
      });
    },
  };
}

function parseKey(body: unknown, now: Date) {
  const { name, scopes, expiresAt } = parseBody(CreateKey, body);
  if (name === defaultKeyName) {
    throw invalid(`name must not be ${defaultKeyName}, which is the name of the account's own key`, 'name');
  }
  if (expiresAt === undefined) return { name, scopes: [...new Set(scopes)] };
  const at = new Date(expiresAt);
  if (Number.isNaN(at.getTime()) || at <= now) throw invalid('expiresAt must be in the future', 'expiresAt');
  return { name, scopes: [...new Set(scopes)], expiresAt: at.toISOString() };
}

function mustBeLive(row: KeyRow, now: Date): void {
  if (isLive(row, now)) return;
  throw new AppError('E_INVALID_INPUT', `the key ${row.keyId} is revoked or expired; make a new one instead`);
}

async function mustFind(tables: Tables, actor: Actor, keyId: string): Promise<KeyRow> {
  const row = isId('key', keyId) ? await tables.keys.get(actor.accountId, keyId) : undefined;
  if (!row) throw notFound('Key');
  mustCover(actor, row.scopes, `the key ${keyId}`);
  return row;
}
