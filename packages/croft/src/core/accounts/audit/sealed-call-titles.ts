import { isObject } from '../configs/check-json.ts';
import type { AuditRow } from '../ports/call-tables.ts';
import type { Vault } from '../ports/vault.ts';

/**
 * A person recognises a call by its title: its command, its path. Commands have texts that are for the account alone, so
 * the trail has titles sealed, and only the account's own readers open them.
 */
export function sealTitle(
  fields: Readonly<Record<string, unknown>>,
  { vault, accountId }: { readonly vault: Pick<Vault, 'seal'>; readonly accountId: string },
): Readonly<Record<string, unknown>> {
  const { title, call } = fields;
  return typeof title === 'string' ? { ...fields, title: vault.seal(title, aboutTitle(accountId, call)) } : fields;
}

/** A row without its title if the key that sealed it is gone: rows are chained, so no later key can seal them again. */
export function openTitle(row: AuditRow, vault: Pick<Vault, 'open'>): AuditRow {
  if (!row.action.startsWith('call.')) return row;
  const details: unknown = JSON.parse(row.details);
  if (!isObject(details) || typeof details.title !== 'string') return row;
  const { title, ...others } = details;
  return { ...row, details: JSON.stringify({ ...others, ...open(String(title), row.accountId, details.call, vault) }) };
}

function open(sealed: string, accountId: string, call: unknown, vault: Pick<Vault, 'open'>): { title?: string } {
  try {
    return { title: vault.open(sealed, aboutTitle(accountId, call)) };
  } catch {
    return {};
  }
}

const aboutTitle = (accountId: string, call: unknown) => `audit/${accountId}/${String(call)}`;
