import { isObject, isSameJson } from './plain-json.ts';
import type { Records, Tables } from './records.ts';
import type { AuditLog } from './registry.ts';

const maxKeys = 50;
const maxKeyLength = 200;

export interface Happening {
  readonly accountId: string;
  readonly at: Date;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  /** Nothing of it is secret: names and keys, never values of a config. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** In the transaction of what happened, so that there is neither without the other. */
export async function note(tables: Tables, { at, details, ...rest }: Happening): Promise<void> {
  await tables.audit.append([{ ...rest, at: at.toISOString(), details: JSON.stringify(details) }]);
}

export function createAuditLog({ records }: { readonly records: Records }): AuditLog {
  return { list: ({ accountId }, page) => records.read((tables) => tables.audit.list({ accountId }, page)) };
}

/** Which keys differ, and not from what to what. */
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
