import { PutSecret, SecretName } from '@croft/protocol';
import { z } from 'zod';
import { mustBeActive } from './account-checks.ts';
import { note } from './audit-log.ts';
import type { RegistryContext } from './context.ts';
import { parseBody } from './parse-body.ts';
import type { Tables } from './records.ts';
import { notFound, overQuota } from './refusals.ts';
import type { Actor, SecretStore } from './registry.ts';

const Named = z.object({ name: SecretName });

export function createSecretStore({ records, vault, now, quotas }: RegistryContext): SecretStore {
  const about = (accountId: string, name: string) => `secrets/${accountId}/${name}`;

  const tell = (tables: Tables, { accountId, label }: Actor, action: string, target: string) =>
    note(tables, { accountId, at: now(), actor: label, action, target, details: {} });

  async function mustHaveRoom(tables: Tables, accountId: string): Promise<void> {
    const { length } = await tables.secrets.list(accountId);
    if (length >= quotas.secrets) throw overQuota('secrets', quotas.secrets);
  }

  return {
    async put(actor, given, body) {
      const { accountId } = actor;
      const { name } = parseBody(Named, { name: given });
      const { value } = parseBody(PutSecret, body);
      const row = { accountId, name, value: vault.seal(value, about(accountId, name)), updatedAt: now().toISOString() };
      await records.change(async (tables) => {
        await mustBeActive(tables, accountId);
        const before = await tables.secrets.get(accountId, name);
        if (!before) await mustHaveRoom(tables, accountId);
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
        await tell(tables, actor, 'secret.removed', name);
      });
    },

    async openAll(accountId) {
      const rows = await records.read((tables) => tables.secrets.list(accountId));
      return new Map(rows.map(({ name, value }) => [name, vault.open(value, about(accountId, name))]));
    },
  };
}
