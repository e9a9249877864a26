import { describe } from 'vitest';
import type { Records } from '../../src/core/accounts/ports/records.ts';
import type { RecordsOptions } from '../../src/records/index.ts';
import { describeCalls } from './records-calls.ts';
import { describeChanges } from './records-changes.ts';
import { describeCounts } from './records-counts.ts';
import { describeKills } from './records-kill.ts';
import { describeMigrations } from './records-migrations.ts';
import { describePages } from './records-pages.ts';
import { describeServers } from './records-servers.ts';
import { describeTables } from './records-tables.ts';
import { describeTenants } from './records-tenants.ts';
import { describeTexts } from './records-texts.ts';

/** An empty database. */
export interface RecordsFixture extends AsyncDisposable {
  readonly options: RecordsOptions;
  /** Opens the records as a server does. Closed with the fixture, if not before. */
  open(options?: { readonly deadlineMs?: number }): Promise<Records>;
  /** Executes SQL directly, as another program would. */
  execute(sql: string): Promise<void>;
}

export type PrepareRecords = () => Promise<RecordsFixture>;

/** The contract of every record store. */
export function describeRecords(name: string, prepare: PrepareRecords): void {
  describe(`records in ${name}`, () => {
    describeTables(prepare);
    describeTexts(prepare);
    describeTenants(prepare);
    describeChanges(prepare);
    describeServers(prepare);
    describePages(prepare);
    describeCalls(prepare);
    describeCounts(prepare);
    describeMigrations(prepare);
    describeKills(prepare);
  });
}
