import { describe } from 'vitest';
import type { Records } from '../../src/core/accounts/records.ts';
import type { RecordsOptions } from '../../src/records/index.ts';
import { describeChanges } from './records-changes.ts';
import { describeKills } from './records-kill.ts';
import { describeMigrations } from './records-migrations.ts';
import { describePages } from './records-pages.ts';
import { describeServers } from './records-servers.ts';
import { describeTables } from './records-tables.ts';
import { describeTenants } from './records-tenants.ts';
import { describeTexts } from './records-texts.ts';

/** An empty database. */
export interface RecordsGround extends AsyncDisposable {
  readonly options: RecordsOptions;
  /** As a server opens it; closed with the ground, if not before. */
  open(options?: { readonly deadlineMs?: number }): Promise<Records>;
  /** Past the records: what another program does to the database. */
  execute(sql: string): Promise<void>;
}

export type PrepareRecords = () => Promise<RecordsGround>;

/** What every store of records promises. */
export function describeRecords(name: string, prepare: PrepareRecords): void {
  describe(`records in ${name}`, () => {
    describeTables(prepare);
    describeTexts(prepare);
    describeTenants(prepare);
    describeChanges(prepare);
    describeServers(prepare);
    describePages(prepare);
    describeMigrations(prepare);
    describeKills(prepare);
  });
}
