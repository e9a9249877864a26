import { CreateAccount, PatchAccount } from '@croft/protocol';
import type { z } from 'zod';
import { newId } from '../../../lib/ids.ts';
import { mustBeActiveAccount, mustFindAccount } from '../access/must-be-active-account.ts';
import { changedMeanwhile } from '../access/registry-errors.ts';
import { appendAudit, changedKeys } from '../audit/audit-log.ts';
import { isObject } from '../configs/check-json.ts';
import { invalidArgument } from '../configs/invalid-argument.ts';
import { parseRequestBody } from '../configs/parse-request-body.ts';
import { createAuthenticate, createFindActor } from '../keys/authenticate.ts';
import { defaultKeyName, findLiveKeys, makeKey } from '../keys/key-rows.ts';
import type { AccountRow } from '../ports/account-tables.ts';
import type { Tables } from '../ports/records.ts';
import type { Accounts } from '../ports/registry.ts';
import type { RegistryContext } from '../ports/registry-context.ts';
import { createAccountRemoval } from './account-removal.ts';

export function createAccounts(context: RegistryContext): Accounts {
  const { records, vault, now } = context;

  const tell = (tables: Tables, actor: string, accountId: string, what: string, details: Record<string, unknown>) =>
    appendAudit(tables, { accountId, at: now(), actor, action: `account.${what}`, target: accountId, details });

  const makeDefaultKey = (accountId: string) =>
    makeKey(vault, { accountId, name: defaultKeyName, scopes: ['*'] }, now());

  return {
    authenticate: createAuthenticate(context, 'active'),
    authenticateToRemove: createAuthenticate(context, 'disabled'),
    actorOf: createFindActor(context),
    remove: createAccountRemoval(context),
    get: (accountId) => records.read((tables) => mustFindAccount(tables, accountId)),
    list: (page) => records.read((tables) => tables.accounts.list(page)),

    async create(label, body) {
      const { username, description } = parseAccount(CreateAccount, body, 'is created through /accounts/me/agents');
      const accountId = newId('acct');
      const { row, secret } = makeDefaultKey(accountId);
      const account = toAccount({ accountId, username, description }, now());
      await records.change(async (tables) => {
        await tables.accounts.insert(account);
        await tables.keys.insert(row);
        await tell(tables, label, accountId, 'created', { username, keyId: row.keyId });
      });
      return { account, secret };
    },

    async patch(label, accountId, body) {
      const patch = parseAccount(PatchAccount, body, 'must be updated through /accounts/me/agents/{agentId}');
      if (patch.username === undefined && patch.description === undefined) {
        throw invalidArgument('Request body must include username or description', 'Request body');
      }
      return records.change(async (tables) => {
        const before = await mustFindAccount(tables, accountId);
        const after = patchedAccount(before, patch, now());
        const changed = changedKeys(comparable(before), comparable(after));
        if (changed.length === 0) return before;
        if (!(await tables.accounts.update(after))) throw changedMeanwhile('Account');
        await tell(tables, label, accountId, 'changed', { changed });
        return after;
      });
    },

    async rotateSecret(label, accountId) {
      const { row, secret } = makeDefaultKey(accountId);
      const account = await records.change(async (tables) => {
        const found = await mustBeActiveAccount(tables, accountId);
        const live = await findLiveKeys(tables, accountId, now());
        const old = live.filter(({ name, scopes }) => name === defaultKeyName && scopes.includes('*'));
        for (const { keyId } of old) await tables.keys.revoke(accountId, keyId, now().toISOString());
        await tables.keys.insert(row);
        const revoked = old.map(({ keyId }) => keyId);
        await tell(tables, label, accountId, 'secret_rotated', { keyId: row.keyId, revoked });
        return found;
      });
      return { account, secret };
    },
  };
}

/** The older API had an agent's config in the account: the error says where it belongs now. */
function parseAccount<Schema extends z.ZodType>(schema: Schema, body: unknown, where: string): z.output<Schema> {
  if (isObject(body) && Object.hasOwn(body, 'config')) throw invalidArgument(`Agent config ${where}`, 'config');
  return parseRequestBody(schema, body);
}

type Given = z.output<typeof CreateAccount> & { readonly accountId: string };

function toAccount({ accountId, username, description }: Given, now: Date): AccountRow {
  const at = now.toISOString();
  const described = description ? { description } : {};
  return { accountId, username, ...described, status: 'active', createdAt: at, updatedAt: at, version: 1 };
}

function patchedAccount(before: AccountRow, patch: z.output<typeof PatchAccount>, now: Date): AccountRow {
  const { description: old, ...rest } = before;
  const description = patch.description === undefined ? old : patch.description;
  return {
    ...rest,
    username: patch.username ?? before.username,
    ...(description && { description }),
    updatedAt: now.toISOString(),
    version: before.version + 1,
  };
}

function comparable({ username, description }: AccountRow) {
  return { username, ...(description && { description }) };
}
