/** Migration 1. Never edit a released migration; add another one. */
export function firstTables(text: string): string[] {
  const account = `account_id ${text} NOT NULL REFERENCES accounts (account_id)`;
  // No foreign key: the administrator and the person at this machine have no account, but their rows are stored too.
  const anybody = `account_id ${text} NOT NULL`;
  return [
    `CREATE TABLE accounts (
      account_id ${text} PRIMARY KEY, username ${text} NOT NULL, description ${text}, status ${text} NOT NULL,
      created_at ${text} NOT NULL, updated_at ${text} NOT NULL, version INTEGER NOT NULL, place BIGINT NOT NULL UNIQUE)`,
    `CREATE TABLE api_keys (
      ${account}, key_id ${text} NOT NULL, name ${text} NOT NULL, scopes ${text} NOT NULL, hash ${text} NOT NULL UNIQUE,
      created_at ${text} NOT NULL, expires_at ${text}, revoked_at ${text}, place BIGINT NOT NULL,
      PRIMARY KEY (account_id, key_id), UNIQUE (account_id, place))`,
    ...['agents', 'sandboxes', 'workspaces'].map(
      (table) => `CREATE TABLE ${table} (
      ${account}, id ${text} NOT NULL, name ${text} NOT NULL, description ${text}, config ${text} NOT NULL,
      created_at ${text} NOT NULL, updated_at ${text} NOT NULL, version INTEGER NOT NULL, place BIGINT NOT NULL,
      PRIMARY KEY (account_id, id), UNIQUE (account_id, name), UNIQUE (account_id, place))`,
    ),
    `CREATE TABLE resource_uses (
      ${account}, from_id ${text} NOT NULL, to_id ${text} NOT NULL, PRIMARY KEY (account_id, from_id, to_id))`,
    'CREATE INDEX resource_uses_by_to ON resource_uses (account_id, to_id, from_id)',
    ...approvals(anybody, text),
    `CREATE TABLE secrets (
      ${account}, name ${text} NOT NULL, value ${text} NOT NULL, updated_at ${text} NOT NULL,
      PRIMARY KEY (account_id, name))`,
    ...sessions(anybody, text),
    `CREATE TABLE requests (
      ${anybody}, request_key ${text} NOT NULL, hash ${text} NOT NULL, status INTEGER NOT NULL, body ${text} NOT NULL,
      created_at ${text} NOT NULL, PRIMARY KEY (account_id, request_key))`,
    'CREATE INDEX requests_by_time ON requests (created_at)',
    `CREATE TABLE audit (
      sequence BIGINT PRIMARY KEY, account_id ${text} NOT NULL, at ${text} NOT NULL, actor ${text} NOT NULL,
      action ${text} NOT NULL, target ${text} NOT NULL, details ${text} NOT NULL, previous ${text} NOT NULL,
      hash ${text} NOT NULL)`,
    'CREATE INDEX audit_by_account ON audit (account_id, sequence)',
  ];
}

function approvals(owner: string, text: string): string[] {
  return [
    `CREATE TABLE approvals (
      ${owner}, approval_id ${text} NOT NULL, agent_id ${text} NOT NULL, session ${text} NOT NULL,
      tool ${text} NOT NULL, workspace ${text} NOT NULL, content ${text} NOT NULL, hash ${text} NOT NULL,
      state ${text} NOT NULL, scope ${text} NOT NULL, created_at ${text} NOT NULL, expires_at ${text} NOT NULL,
      decided_at ${text}, decided_by ${text}, reason ${text}, version INTEGER NOT NULL, place BIGINT NOT NULL,
      PRIMARY KEY (account_id, approval_id), UNIQUE (account_id, place))`,
    'CREATE INDEX approvals_by_call ON approvals (account_id, session, hash, place)',
    'CREATE INDEX approvals_by_state ON approvals (account_id, state, place)',
  ];
}

function sessions(owner: string, text: string): string[] {
  return [
    `CREATE TABLE sessions (
      ${owner}, agent_id ${text} NOT NULL, session ${text} NOT NULL, parent ${text}, state ${text} NOT NULL,
      used_at ${text} NOT NULL, version INTEGER NOT NULL, place BIGINT NOT NULL,
      PRIMARY KEY (account_id, agent_id, session), UNIQUE (account_id, place))`,
    'CREATE INDEX sessions_by_use ON sessions (used_at)',
  ];
}
