import { CreateRunner } from '@croft/protocol';
import { mustBeActiveAccount } from '../access/must-be-active-account.ts';
import { alreadyExists, notFound, overQuota } from '../access/registry-errors.ts';
import { appendAudit } from '../audit/audit-log.ts';
import { invalidArgument } from '../configs/invalid-argument.ts';
import { parseRequestBody } from '../configs/parse-request-body.ts';
import type { KeyRow } from '../ports/account-tables.ts';
import type { Tables } from '../ports/records.ts';
import type { Actor, RunnerToken, RunnerTokens } from '../ports/registry.ts';
import type { RegistryContext } from '../ports/registry-context.ts';
import { findLiveKeys, isLive, isRunnerKey, makeKey, runnerPrefix as prefix, runnerScope } from './key-rows.ts';
import { mustOutlive } from './keys.ts';

const maxTokenLength = 200;

export function createRunnerTokens(context: RegistryContext): RunnerTokens {
  const { records, vault, now, quotas } = context;
  const tell = (tables: Tables, actor: Actor, what: string, { keyId, name }: KeyRow) =>
    appendAudit(tables, {
      ...{ accountId: actor.accountId, at: now(), actor: actor.label },
      ...{ action: `runner.${what}`, target: name.slice(prefix.length), details: { keyId } },
    });
  const make = (accountId: string, name: string, expiresAt?: string) =>
    makeKey(vault, { accountId, name: `${prefix}${name}`, scopes: [runnerScope], expiresAt }, now());
  const mustFind = async (tables: Tables, accountId: string, name: string): Promise<KeyRow> => {
    const row = (await findRunnerKeys(tables, accountId, now())).find((key) => key.name === `${prefix}${name}`);
    if (!row) throw notFound('Runner');
    return row;
  };

  return {
    async create(actor, body) {
      const { name, expiresAt } = readRunner(body, now());
      mustOutlive(actor, expiresAt);
      const { row, secret } = make(actor.accountId, name, expiresAt);
      await records.change(async (tables) => {
        await mustBeActiveAccount(tables, actor.accountId);
        const known = await findRunnerKeys(tables, actor.accountId, now());
        const holder = known.find((key) => key.name === row.name);
        if (holder) throw alreadyExists('Runner', name, holder.keyId);
        if (known.length >= quotas.runners) throw overQuota('runners', quotas.runners);
        await tables.keys.insert(row);
        await tell(tables, actor, 'created', row);
      });
      return { runner: toRunnerToken(row), token: secret };
    },

    async list(accountId) {
      const rows = await records.read((tables) => findRunnerKeys(tables, accountId, now()));
      return rows.map(toRunnerToken).sort((one, other) => (one.name < other.name ? -1 : 1));
    },

    async rotate(actor, name) {
      const made = make(actor.accountId, name);
      const row = await records.change(async (tables) => {
        await mustBeActiveAccount(tables, actor.accountId);
        const old = await mustFind(tables, actor.accountId, name);
        mustOutlive(actor, old.expiresAt);
        await tables.keys.revoke(actor.accountId, old.keyId, now().toISOString());
        const fresh = { ...made.row, expiresAt: old.expiresAt };
        await tables.keys.insert(fresh);
        await tell(tables, actor, 'rotated', fresh);
        return fresh;
      });
      return { runner: toRunnerToken(row), token: made.secret };
    },

    async revoke(actor, name) {
      await records.change(async (tables) => {
        const row = await mustFind(tables, actor.accountId, name);
        await tables.keys.revoke(actor.accountId, row.keyId, now().toISOString());
        await tell(tables, actor, 'revoked', row);
      });
    },

    async authenticate(token) {
      if (token === '' || token.length > maxTokenLength) return undefined;
      const hash = vault.hash(token);
      return records.read(async ({ keys, accounts }) => {
        const key = await keys.byHash(hash);
        if (!key || !isRunnerKey(key) || !isLive(key, now())) return undefined;
        const account = await accounts.get(key.accountId);
        return account?.status === 'active' ? toRunnerToken(key) : undefined;
      });
    },
  };
}

/** Returns the tokens that can connect. */
export async function findRunnerKeys(tables: Tables, accountId: string, now: Date): Promise<KeyRow[]> {
  return (await findLiveKeys(tables, accountId, now)).filter(isRunnerKey);
}

function readRunner(body: unknown, now: Date): { name: string; expiresAt?: string } {
  const { name, expiresAt } = parseRequestBody(CreateRunner, body);
  if (expiresAt === undefined) return { name };
  if (new Date(expiresAt) <= now) throw invalidArgument('expiresAt must be in the future', 'expiresAt');
  return { name, expiresAt: new Date(expiresAt).toISOString() };
}

export function toRunnerToken({ accountId, keyId, name, createdAt, expiresAt }: KeyRow): RunnerToken {
  const view = { accountId, runnerId: keyId, name: name.slice(prefix.length), createdAt };
  return expiresAt === undefined ? view : { ...view, expiresAt };
}
