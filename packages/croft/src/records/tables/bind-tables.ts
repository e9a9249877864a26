import type { Tables } from '../../core/accounts/ports/records.ts';
import type { SqlConnection } from '../sql/database.ts';
import { removeRows } from '../sql/rows.ts';
import { createAccountTable } from './accounts.ts';
import * as browserSessions from './browser-sessions.ts';
import * as approvals from './calls/approvals.ts';
import { type AuditChaining, createAuditTable } from './calls/audit.ts';
import { createCallTable } from './calls/calls-in-progress.ts';
import * as requests from './calls/idempotent-requests.ts';
import * as sessions from './calls/sessions.ts';
import { createLeaseTable } from './cluster/leases.ts';
import { createRunnerLinkTable } from './cluster/runner-links.ts';
import { createSandboxCountTable } from './cluster/sandbox-counts.ts';
import { createServerTable } from './cluster/servers.ts';
import { createDataDirectoryTable } from './data-directories.ts';
import * as keys from './keys.ts';
import * as references from './references.ts';
import * as removals from './removals.ts';
import * as reservations from './reservations.ts';
import * as resources from './resources.ts';
import * as secrets from './secrets.ts';
import { createServerKeyCheckTable } from './server-key-checks.ts';

/**
 * The tables with rows of an account, by the names that callers use. Without the audit trail, which outlives the
 * account.
 */
const accountTables = {
  keys: keys.table,
  agents: resources.agents,
  sandboxes: resources.sandboxes,
  workspaces: resources.workspaces,
  references: references.table,
  approvals: approvals.table,
  secrets: secrets.table,
  sessions: sessions.table,
  requests: requests.table,
  removals: removals.table,
  browserSessions: browserSessions.table,
  reservations: reservations.table,
};

export function bindTables(connection: SqlConnection, chaining: AuditChaining): Tables {
  return {
    accounts: createAccountTable(connection),
    keys: keys.createKeyTable(connection),
    agents: resources.createResourceTable(connection, resources.agents),
    sandboxes: resources.createResourceTable(connection, resources.sandboxes),
    workspaces: resources.createResourceTable(connection, resources.workspaces),
    references: references.createReferenceTable(connection),
    approvals: approvals.createApprovalTable(connection),
    secrets: secrets.createSecretTable(connection),
    sessions: sessions.createSessionTable(connection),
    requests: requests.createIdempotentRequestTable(connection),
    removals: removals.createRemovalTable(connection),
    browserSessions: browserSessions.createBrowserSessionTable(connection),
    calls: createCallTable(connection),
    keyChecks: createServerKeyCheckTable(connection),
    dataDirectories: createDataDirectoryTable(connection),
    servers: createServerTable(connection),
    leases: createLeaseTable(connection),
    runnerLinks: createRunnerLinkTable(connection),
    sandboxCounts: createSandboxCountTable(connection),
    reservations: reservations.createReservationTable(connection),
    audit: createAuditTable(connection, chaining),
    async removeAllOf(accountId) {
      const removed: Record<string, number> = {};
      for (const [name, table] of Object.entries(accountTables)) {
        removed[name] = await removeRows(connection, table, 'account_id = ?', accountId);
      }
      return removed;
    },
  };
}
