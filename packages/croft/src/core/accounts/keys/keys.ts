import { AppError, CreateKey } from '@croft/protocol';
import { isId } from '../../../lib/ids.ts';
import { mustReachAllOf, reachesAllOf } from '../access/key-reach.ts';
import { mustBeActiveAccount } from '../access/must-be-active-account.ts';
import { mustCoverScopes } from '../access/must-cover-scopes.ts';
import { alreadyExists, notFound, overQuota } from '../access/registry-errors.ts';
import { appendAudit } from '../audit/audit-log.ts';
import { invalidArgument } from '../configs/invalid-argument.ts';
import { parseRequestBody } from '../configs/parse-request-body.ts';
import type { KeyRow } from '../ports/account-tables.ts';
import { readEveryPage } from '../ports/read-every-page.ts';
import type { Tables } from '../ports/records.ts';
import type { Actor, Keys } from '../ports/registry.ts';
import type { RegistryContext } from '../ports/registry-context.ts';
import { defaultKeyName, findLiveKeys, isLive, isRunnerKey, makeKey, showKey } from './key-rows.ts';

/** Throws when a key that expires would make one that lasts longer. */
export function mustOutlive({ expiresAt: own }: Actor, wanted: string | undefined): void {
  if (own === undefined || (wanted !== undefined && Date.parse(wanted) <= Date.parse(own))) return;
  throw new AppError('E_FORBIDDEN', `this key ends at ${own}: a key it makes has to end by then`, {
    hint: `Pass expiresAt, not later than ${own}.`,
  });
}

export function createKeys(context: RegistryContext): Keys {
  const { records, vault, now } = context;
  const tell = (
    tables: Tables,
    actor: Actor,
    what: string,
    { keyId, name, scopes, agents }: KeyRow,
    more: object = {},
  ) =>
    appendAudit(tables, {
      accountId: actor.accountId,
      at: now(),
      actor: actor.label,
      action: `key.${what}`,
      target: keyId,
      details: { name, scopes, ...(agents && { agents }), ...more },
    });

  return {
    async create(actor, body) {
      const given = parseKey(body, now());
      mustCoverScopes(actor, given.scopes, 'the new key');
      mustReachAllOf(actor, given);
      mustOutlive(actor, given.expiresAt);
      const { row, secret } = makeKey(vault, { accountId: actor.accountId, ...given }, now());
      await records.change(async (tables) => {
        await mustBeActiveAccount(tables, actor.accountId);
        await mustHaveAgents(tables, row);
        await mustBeBelowKeyLimit(tables, actor, row, context);
        await tables.keys.insert(row);
        await tell(tables, actor, 'created', row);
      });
      return { key: showKey(row), secret };
    },

    async list(actor, page) {
      const { rows, ...rest } = await records.read((tables) => tables.keys.list(actor.accountId, page));
      return { ...rest, rows: rows.filter((row) => reachesAllOf(actor, row)).map(showKey) };
    },

    async listAll(accountId) {
      const rows = await records.read((tables) => readEveryPage((page) => tables.keys.list(accountId, page)));
      return rows.map(showKey);
    },

    async rotate(actor, keyId) {
      const made = makeKey(vault, { accountId: actor.accountId, name: '', scopes: [] }, now());
      const row = await records.change(async (tables) => {
        await mustBeActiveAccount(tables, actor.accountId);
        const old = await mustFind(tables, actor, keyId);
        mustBeLive(old, now());
        mustOutlive(actor, old.expiresAt);
        await tables.keys.revoke(actor.accountId, keyId, now().toISOString());
        const { name, scopes, agents, expiresAt } = old;
        const fresh = { ...made.row, name, scopes, ...(agents && { agents }), ...(expiresAt && { expiresAt }) };
        await tables.keys.insert(fresh);
        await tell(tables, actor, 'rotated', old, { newKeyId: fresh.keyId });
        return fresh;
      });
      return { key: showKey(row), secret: made.secret };
    },

    async revoke(actor, keyId) {
      await records.change(async (tables) => {
        const row = await mustFind(tables, actor, keyId);
        // Revoking twice has the same effect, and is audited once.
        if (!(await tables.keys.revoke(actor.accountId, keyId, now().toISOString()))) return;
        await tell(tables, actor, 'revoked', row);
      });
    },
  };
}

async function mustBeBelowKeyLimit(
  tables: Tables,
  actor: Actor,
  { accountId, name }: KeyRow,
  { now, quotas }: RegistryContext,
): Promise<void> {
  const live = (await findLiveKeys(tables, accountId, now())).filter((key) => !isRunnerKey(key));
  const holder = live.find((key) => key.name === name);
  if (holder) throw alreadyExists('Key', name, reachesAllOf(actor, holder) ? holder.keyId : undefined);
  if (live.length >= quotas.keys) throw overQuota('keys', quotas.keys);
}

function parseKey(body: unknown, now: Date) {
  const { name, scopes, agents, expiresAt } = parseRequestBody(CreateKey, body);
  if (name === defaultKeyName) {
    throw invalidArgument(`name must not be ${defaultKeyName}, which is the name of the account's own key`, 'name');
  }
  const given = { name, scopes: [...new Set(scopes)], ...(agents && { agents: [...new Set(agents)] }) };
  if (expiresAt === undefined) return { ...given, expiresAt };
  const at = new Date(expiresAt);
  if (Number.isNaN(at.getTime()) || at <= now) throw invalidArgument('expiresAt must be in the future', 'expiresAt');
  return { ...given, expiresAt: at.toISOString() };
}

/**
 * Throws for an agent that does not exist. Otherwise the key would reach less than its maker expects, which would show
 * only when it is used.
 */
async function mustHaveAgents(tables: Tables, { accountId, agents = [] }: KeyRow): Promise<void> {
  for (const agentId of agents) {
    const found = isId('agent', agentId) && (await tables.agents.get(accountId, agentId));
    if (!found) throw invalidArgument(`agents must be ids of agents of this account: there is no ${agentId}`, 'agents');
  }
}

function mustBeLive(row: KeyRow, now: Date): void {
  if (isLive(row, now)) return;
  throw new AppError('E_INVALID_INPUT', `the key ${row.keyId} is revoked or expired; make a new one instead`);
}

async function mustFind(tables: Tables, actor: Actor, keyId: string): Promise<KeyRow> {
  const row = isId('key', keyId) ? await tables.keys.get(actor.accountId, keyId) : undefined;
  if (!row || !reachesAllOf(actor, row)) throw notFound('Key');
  mustCoverScopes(actor, row.scopes, `the key ${keyId}`);
  return row;
}
