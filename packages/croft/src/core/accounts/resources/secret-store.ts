import { PutSecret, SecretName, WorkspaceStorage } from '@croft/protocol';
import { z } from 'zod';
import { mustBeActiveAccount } from '../access/must-be-active-account.ts';
import { notFound, overQuota } from '../access/registry-errors.ts';
import { appendAudit } from '../audit/audit-log.ts';
import { parseRequestBody } from '../configs/parse-request-body.ts';
import { readEveryPage } from '../ports/read-every-page.ts';
import type { Tables } from '../ports/records.ts';
import type { Actor, SecretStore, WorkspaceConfig } from '../ports/registry.ts';
import type { RegistryContext } from '../ports/registry-context.ts';
import { createSealedRows } from '../sealing/sealed-rows.ts';
import { inUseError, maxNamed } from './record-references.ts';

const Named = z.object({ name: SecretName });

export function createSecretStore({ records, vault, now, quotas }: RegistryContext): SecretStore {
  const workspaces = createSealedRows<WorkspaceConfig>(vault, 'workspaces');
  const about = (accountId: string, name: string) => `secrets/${accountId}/${name}`;

  const tell = (tables: Tables, { accountId, label }: Actor, action: string, target: string) =>
    appendAudit(tables, { accountId, at: now(), actor: label, action, target, details: {} });

  async function mustBeBelowLimit(tables: Tables, accountId: string): Promise<void> {
    const { length } = await tables.secrets.list(accountId);
    if (length >= quotas.secrets) throw overQuota('secrets', quotas.secrets);
  }

  /** Throws while a workspace opens its bucket with the secret: without it, not even the objects could be deleted. */
  async function mustBeUnused(tables: Tables, accountId: string, name: string): Promise<void> {
    const rows = await readEveryPage((page) => tables.workspaces.list(accountId, page));
    const users = rows.map(workspaces.open).filter(({ config }) => secretOf(config) === name);
    if (users.length > 0) throw inUseError(`the secret ${name} opens the bucket of`, users.slice(0, maxNamed));
  }

  return {
    async put(actor, given, body) {
      const { accountId } = actor;
      const { name } = parseRequestBody(Named, { name: given });
      const { value } = parseRequestBody(PutSecret, body);
      const row = { accountId, name, value: vault.seal(value, about(accountId, name)), updatedAt: now().toISOString() };
      await records.change(async (tables) => {
        await mustBeActiveAccount(tables, accountId);
        const before = await tables.secrets.get(accountId, name);
        if (!before) await mustBeBelowLimit(tables, accountId);
        await tables.secrets.put(row);
        await tell(tables, actor, before ? 'secret.changed' : 'secret.created', name);
      });
      return { name, updatedAt: row.updatedAt };
    },

    async list({ accountId }) {
      const rows = await records.read((tables) => tables.secrets.list(accountId));
      return rows.map(({ name, updatedAt }) => ({ name, updatedAt }));
    },

    async remove(actor, name) {
      if (!SecretName.safeParse(name).success) throw notFound('Secret');
      await records.change(async (tables) => {
        if (!(await tables.secrets.remove(actor.accountId, name))) throw notFound('Secret');
        await mustBeUnused(tables, actor.accountId, name);
        await tell(tables, actor, 'secret.removed', name);
      });
    },

    async openAll(accountId) {
      const rows = await records.read((tables) => tables.secrets.list(accountId));
      return new Map(rows.map(({ name, value }) => [name, vault.open(value, about(accountId, name))]));
    },
  };
}

function secretOf({ storage }: WorkspaceConfig): string | undefined {
  return WorkspaceStorage.safeParse(storage).data?.auth?.secretName;
}
