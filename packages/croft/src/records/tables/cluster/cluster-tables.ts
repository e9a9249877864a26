/** Migration 12. Never edit a released migration; add another one. SQLite has the tables too, and no row in them. */
export function clusterTables(textType: string): string[] {
  return [
    `CREATE TABLE servers (
      server_id ${textType} NOT NULL PRIMARY KEY, address ${textType} NOT NULL, host ${textType} NOT NULL,
      directory_id ${textType} NOT NULL, protocol INTEGER NOT NULL, epoch BIGINT NOT NULL, beat_at ${textType} NOT NULL)`,
    `CREATE TABLE leases (
      lease_key ${textType} NOT NULL PRIMARY KEY, server_id ${textType} NOT NULL, epoch BIGINT NOT NULL)`,
    'CREATE INDEX leases_of_server ON leases (server_id)',
    `CREATE TABLE runner_links (
      account_id ${textType} NOT NULL, runner ${textType} NOT NULL, server_id ${textType} NOT NULL,
      epoch BIGINT NOT NULL, view_json ${textType} NOT NULL, PRIMARY KEY (account_id, runner))`,
    'CREATE INDEX runner_links_of_server ON runner_links (server_id)',
    `CREATE TABLE sandbox_counts (
      account_id ${textType} NOT NULL, server_id ${textType} NOT NULL, open_count INTEGER NOT NULL,
      PRIMARY KEY (account_id, server_id))`,
  ];
}
