import type { Tables } from '../../core/accounts/records.ts';
import { createAccountTable } from './accounts.ts';
import * as approvals from './approvals.ts';
import { createAuditTable } from './audit.ts';
import type { Connection } from './database.ts';
import * as keys from './keys.ts';
import * as references from './references.ts';
import * as removals from './removals.ts';
import * as requests from './requests.ts';
import * as resources from './resources.ts';
import { removeRows } from './rows.ts';
import * as secrets from './secrets.ts';
import * as sessions from './sessions.ts';

/** What an account has, by the names callers know. Without the audit trail, which outlives it. */
const ofAccounts = {
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
};

export function createTables(connection: Connection): Tables {
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
    requests: requests.createRequestTable(connection),
    removals: removals.createRemovalTable(connection),
    audit: createAuditTable(connection),
    async removeAllOf(accountId) {
      const removed: Record<string, number> = {};
      for (const [name, table] of Object.entries(ofAccounts)) {
        removed[name] = await removeRows(connection, table, 'account_id = ?', accountId);
      }
      return removed;
    },
  };
}
