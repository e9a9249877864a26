import { isObject, isSameJson } from '../configs/check-json.ts';
import type { AuditLog } from '../ports/audit-log.ts';
import type { AuditRow } from '../ports/call-tables.ts';
import type { Records, Tables } from '../ports/records.ts';
import type { Vault } from '../ports/vault.ts';
import { createAuditFilter } from './audit-filter.ts';
import { lastPositions, mustReadPositions, writePositions } from './audit-positions.ts';
import { type AuditSource, createRecordsSource } from './audit-source.ts';
import { type AuditOrder, type AuditRowMerger, createAuditRowMerger } from './merge-audit-rows.ts';

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

/** Most rows that one request reads, so that no filter keeps a server busy for long. */
const maxScanned = 5000;

export function createAuditLog(context: { readonly records: Records; readonly vault: Pick<Vault, 'open'> }): AuditLog {
  return createMergedAuditLog((accountId) => [createRecordsSource(context, accountId)]);
}

/** The audit trail of an account, which may be several chains. */
export function createMergedAuditLog(sourcesOf: (accountId: string) => readonly AuditSource[]): AuditLog {
  return {
    async list({ accountId }, { limit, after, order = 'oldest', ...filter }) {
      const sources = sourcesOf(accountId);
      const last = await lastPositions(sources);
      const merged = createAuditRowMerger(sources, toStart(after, order, last), order);
      const rows = await takeWanted(merged, createAuditFilter(filter), limit);
      const next = (await merged.hasMore()) ? { next: writePositions(merged.positions()) } : {};
      return { rows, position: writePositions(last), ...next };
    },
  };
}

function toStart(after: string | undefined, order: AuditOrder, last: readonly number[]): number[] {
  if (after !== undefined) return mustReadPositions(after, last.length);
  // Rows that are added meanwhile belong to the events that follow the list.
  return last.map((position) => (order === 'oldest' ? 0 : position + 1));
}

async function takeWanted(
  merged: AuditRowMerger,
  isWanted: (row: AuditRow) => boolean,
  limit: number,
): Promise<AuditRow[]> {
  const rows: AuditRow[] = [];
  for (let scanned = 0; scanned < maxScanned && rows.length < limit; scanned += 1) {
    const row = await merged.next();
    if (!row) break;
    if (isWanted(row)) rows.push(row);
  }
  return rows;
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
