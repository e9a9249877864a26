import { AppError } from '@croft/protocol';
import type { Records, Tables } from '../ports/records.ts';
import type { Vault } from '../ports/vault.ts';

const first = { limit: 1 };

/**
 * Throws when records were sealed with a missing key. Otherwise the server would start, refuse all keys of all
 * accounts, and seal new records with keys that are lost when the operator restores the old ones.
 */
export async function mustHaveSealingKeys(records: Records, vault: Vault): Promise<void> {
  const sealed = await records.read(findSealed);
  try {
    for (const { text, about } of sealed) vault.open(text, about);
  } catch (cause) {
    throw new AppError(
      'E_STORAGE_FAILED',
      'they were sealed with a key that is not there. Put back the file keys of the data directory, or set CROFT_KEYS ' +
        'as it was. Nothing was changed',
      { cause },
    );
  }
}

/** Reads one sealed value of each table. */
async function findSealed(tables: Tables) {
  const { agents, sandboxes, workspaces, secrets, approvals } = tables;
  const resources = Object.entries({ agents, sandboxes, workspaces }).map(async ([kind, table]) =>
    (await table.all(first)).rows.map((row) => ({ text: row.config, about: `${kind}/${row.accountId}/${row.id}` })),
  );
  const kept = (await secrets.all(first)).rows.map(({ accountId, name, value }) => ({
    ...{ text: value, about: `secrets/${accountId}/${name}` },
  }));
  const asked = (await approvals.all(first)).rows.map(({ accountId, approvalId, content }) => ({
    ...{ text: content, about: `approvals/${accountId}/${approvalId}` },
  }));
  return [...(await Promise.all(resources)).flat(), ...kept, ...asked];
}
