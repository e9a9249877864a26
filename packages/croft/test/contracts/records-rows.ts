import { randomBytes } from 'node:crypto';
import type {
  AccountRow,
  BrowserSessionRow,
  KeyRow,
  RemovalRow,
  ResourceRow,
  SecretRow,
} from '../../src/core/accounts/ports/account-tables.ts';
import type { ApprovalRow, AuditEntry, RequestRow, SessionRow } from '../../src/core/accounts/ports/call-tables.ts';
import type { Records, Tables } from '../../src/core/accounts/ports/records.ts';
import type { ReservationRow } from '../../src/core/accounts/ports/reservation-table.ts';

const at = '2026-11-16T02:00:00.000Z';

/** Like real ids, whose order is not that of creation. */
export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}

export function accountRow(row: Partial<AccountRow> = {}): AccountRow {
  const accountId = newId('acct');
  return { accountId, username: 'somebody', status: 'active', createdAt: at, updatedAt: at, version: 1, ...row };
}

export function keyRow(accountId: string, row: Partial<KeyRow> = {}): KeyRow {
  return { accountId, keyId: newId('key'), name: 'a key', scopes: ['*'], hash: newId('hash'), createdAt: at, ...row };
}

export function resourceRow(accountId: string, row: Partial<ResourceRow> = {}): ResourceRow {
  const id = newId('sb');
  return { accountId, id, name: `name of ${id}`, config: 'sealed', createdAt: at, updatedAt: at, version: 1, ...row };
}

export function approvalRow(accountId: string, row: Partial<ApprovalRow> = {}): ApprovalRow {
  const call = { agentId: 'agent_1', session: 'a session', tool: 'bash', workspace: 'main', content: 'sealed' };
  const state = { hash: 'of the call', state: 'pending', scope: 'once', version: 1 } as const;
  return { accountId, approvalId: newId('ap'), ...call, ...state, createdAt: at, expiresAt: at, ...row };
}

export function secretRow(accountId: string, row: Partial<SecretRow> = {}): SecretRow {
  return { accountId, name: newId('SECRET'), value: 'sealed', updatedAt: at, ...row };
}

export function sessionRow(accountId: string, row: Partial<SessionRow> = {}): SessionRow {
  return { accountId, agentId: 'agent_1', session: newId('se'), state: '{}', usedAt: at, version: 1, ...row };
}

export function requestRow(accountId: string, row: Partial<RequestRow> = {}): RequestRow {
  return { accountId, key: newId('once'), hash: 'h', status: 201, body: 'sealed', createdAt: at, ...row };
}

export function removalRow(accountId: string, row: Partial<RemovalRow> = {}): RemovalRow {
  return { accountId, workspaceId: newId('ws'), runner: 'far', createdAt: at, ...row };
}

export function browserSessionRow(accountId: string, row: Partial<BrowserSessionRow> = {}): BrowserSessionRow {
  const times = { createdAt: at, usedAt: at, expiresAt: at };
  return { accountId, hash: newId('hash'), purpose: 'session', keyId: 'key_1', ...times, ...row };
}

export function reservationRow(accountId: string, row: Partial<ReservationRow> = {}): ReservationRow {
  const key = { accountId, sandboxId: newId('sb'), workspaceId: newId('ws'), workspace: 'main' };
  return { ...key, setUp: newId('hash'), createdAt: at, ...row };
}

export function auditEntry(accountId: string, row: Partial<AuditEntry> = {}): AuditEntry {
  return { accountId, at, actor: 'key_1', action: 'call', target: 'bash', details: '{}', ...row };
}

export async function addAccount(records: Records, row: Partial<AccountRow> = {}): Promise<string> {
  const account = accountRow(row);
  await records.change((tables) => tables.accounts.insert(account));
  return account.accountId;
}

export const resourceKinds = ['agents', 'sandboxes', 'workspaces'] as const;

/** Adds one row to every table, so that queries of another account have something to find. */
export async function fillAccount(tables: Tables, accountId: string) {
  const rows = {
    key: keyRow(accountId),
    resource: resourceRow(accountId),
    approval: approvalRow(accountId),
    secret: secretRow(accountId),
    session: sessionRow(accountId),
    request: requestRow(accountId),
    removal: removalRow(accountId),
    browserSession: browserSessionRow(accountId),
    reservation: reservationRow(accountId),
  };
  await tables.keys.insert(rows.key);
  for (const kind of resourceKinds) await tables[kind].insert(rows.resource);
  await tables.references.replace(accountId, 'agent_1', ['sb_1', 'ws_1']);
  await tables.approvals.insert(rows.approval);
  await tables.secrets.put(rows.secret);
  await tables.sessions.put(rows.session);
  await tables.requests.insert(rows.request);
  await tables.removals.insert(rows.removal);
  await tables.browserSessions.insert(rows.browserSession);
  await tables.reservations.put(rows.reservation);
  await tables.audit.append([auditEntry(accountId)]);
  return rows;
}

/** Reads everything of an account by the methods that take its id. */
export async function readAccount(tables: Tables, accountId: string, of: Awaited<ReturnType<typeof fillAccount>>) {
  const page = { limit: 100 };
  const found: unknown[] = [
    await tables.accounts.get(accountId),
    await tables.keys.get(accountId, of.key.keyId),
    ...(await tables.keys.list(accountId, page)).rows,
    await tables.approvals.get(accountId, of.approval.approvalId),
    await tables.approvals.byHash(accountId, of.approval.session, of.approval.hash),
    ...(await tables.approvals.list(accountId, {}, page)).rows,
    ...(await tables.approvals.list(accountId, { state: 'pending', agentId: of.approval.agentId }, page)).rows,
    await tables.secrets.get(accountId, of.secret.name),
    ...(await tables.secrets.list(accountId)),
    await tables.sessions.get(accountId, of.session.agentId, of.session.session),
    ...(await tables.sessions.list(accountId, of.session.agentId, page)).rows,
    await tables.requests.get(accountId, of.request.key),
    await tables.removals.get(accountId, of.removal.workspaceId, of.removal.runner),
    ...(await tables.removals.list(accountId, of.removal.runner, page)).rows,
    await tables.reservations.get({ ...of.reservation, accountId }),
    ...(await tables.audit.list({ accountId }, page)).rows,
    ...(await tables.references.usersOf(accountId, 'sb_1', 10)),
  ];
  for (const kind of resourceKinds) {
    found.push(
      await tables[kind].get(accountId, of.resource.id),
      await tables[kind].byName(accountId, of.resource.name),
    );
    found.push(...(await tables[kind].list(accountId, page)).rows);
  }
  const counts = (await tables.sessions.count(accountId)) + (await tables.sandboxes.count(accountId));
  return { found: found.filter((row) => row !== undefined), counts };
}
