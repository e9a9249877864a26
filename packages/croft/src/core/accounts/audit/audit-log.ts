import { isObject, isSameJson } from '../configs/plain-json.ts';
import type { Records, Tables } from '../ports/records.ts';
import type { AuditLog } from '../ports/registry.ts';

const maxKeys = 50;
const maxKeyLength = 200;

interface AuditEvent {
  readonly accountId: string;
  readonly at: Date;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  /** Contains no secrets: only names and keys of a config, never values. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Appends an audit row. Runs in the transaction of the change, so that neither exists without the other. */
export async function appendAudit(tables: Tables, { at, details, ...rest }: AuditEvent): Promise<void> {
  await tables.audit.append([{ ...rest, at: at.toISOString(), details: JSON.stringify(details) }]);
}

export function createAuditLog({ records }: { readonly records: Records }): AuditLog {
  return { list: ({ accountId }, page) => records.read((tables) => tables.audit.list({ accountId }, page)) };
}

/** Returns which keys differ, without their values. */
export function changedKeys(before: unknown, after: unknown): string[] {
  return findChanged(before, after, '', 3)
    .slice(0, maxKeys)
    .map((path) => path.slice(1, maxKeyLength));
}

function findChanged(before: unknown, after: unknown, path: string, depth: number): string[] {
  if (isSameJson(before, after)) return [];
  if (depth === 0 || !isObject(before) || !isObject(after)) return [path];
  const [older, newer] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  const keys = new Set([...older.keys(), ...newer.keys()]);
  return [...keys].flatMap((key) => findChanged(older.get(key), newer.get(key), `${path}.${key}`, depth - 1));
}
