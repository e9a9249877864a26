import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { findBreak } from '../../src/core/accounts/ports/audit-chain.ts';
import { callTables } from '../../src/records/tables/calls/calls-in-progress.ts';
import type { PrepareRecords, RecordsFixture } from './records.ts';
import { addAccount, removalRow } from './records-rows.ts';

const run = promisify(execFile);
const opener = join(import.meta.dirname, '../fixtures/records-opener.ts');

export function describeMigrations(prepare: PrepareRecords): void {
  describe('migrations', () => {
    test('run once, however many servers start at the same time and however often', async () => {
      await using fixture = await prepare();
      const servers = await Promise.all(Array.from({ length: 6 }, () => fixture.open()));
      const accountId = await addAccount(servers[0]!);
      for (const server of servers) {
        expect(await server.read((tables) => tables.accounts.get(accountId))).toBeDefined();
        await server[Symbol.asyncDispose]();
      }
      const again = await fixture.open();
      expect(await again.read((tables) => tables.accounts.get(accountId))).toBeDefined();
      // Each number exists once, or this insert would succeed.
      await expect(fixture.execute(`INSERT INTO croft_migrations VALUES (1, 'again', 'now')`)).rejects.toThrow();
    });

    test('run once for concurrent processes', async () => {
      await using fixture = await prepare();
      const open = () => run(process.execPath, [opener, JSON.stringify(fixture.options)]);
      await Promise.all(Array.from({ length: 4 }, open));
      const { rows } = await (await fixture.open()).read((tables) => tables.audit.list({}, { limit: 9 }));
      expect(new Set(rows.map(({ target }) => target)).size).toBe(4);
      expect(findBreak(rows)).toBeUndefined();
    });

    test('go on from the version of an older server', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      await records[Symbol.asyncDispose]();
      await dropCounts(fixture);
      await dropCluster(fixture);
      await fixture.execute('DROP TABLE data_directories');
      await fixture.execute('DROP TABLE orphaned_files');
      await fixture.execute('ALTER TABLE workspaces DROP COLUMN directory_id');
      await fixture.execute('DROP TABLE browser_sessions');
      await fixture.execute('DROP TABLE removals');
      await fixture.execute('DROP TABLE calls');
      await fixture.execute('DROP TABLE key_checks');
      await fixture.execute('ALTER TABLE api_keys DROP COLUMN agents');
      await fixture.execute('ALTER TABLE sessions DROP COLUMN server_id');
      await fixture.execute('DELETE FROM croft_migrations WHERE number > 1');
      const newer = await fixture.open();
      await newer.change((tables) => tables.removals.insert(removalRow(accountId)));
    });

    test('keep the calls that an older server left under way', async () => {
      await using fixture = await prepare();
      await (await fixture.open())[Symbol.asyncDispose]();
      await fixture.execute('DROP TABLE calls');
      await dropCluster(fixture);
      for (const statement of callTables('TEXT')) await fixture.execute(statement);
      await fixture.execute(`INSERT INTO calls VALUES ('call_1', 'server', 'account', 'agent', 'bash')`);
      await fixture.execute('DELETE FROM croft_migrations WHERE number > 10');
      const newer = await fixture.open();
      const left = await newer.read((tables) => tables.calls.of('server', 9));
      expect(left).toMatchObject([{ callId: 'call_1', actor: 'agent', tool: 'bash' }]);
    });

    test('of a newer server stop the start, with the next step', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      await addAccount(records);
      await records[Symbol.asyncDispose]();
      await fixture.execute(`INSERT INTO croft_migrations VALUES (4711, 'from the future', 'now')`);
      const opening = fixture.open();
      await expect(opening).rejects.toMatchObject({ code: 'E_STORAGE_FAILED', details: { found: 4711 } });
      await expect(opening).rejects.toThrow(/at migration 4711.*newer Croft.*restore a backup/s);
      await fixture.execute('DELETE FROM croft_migrations WHERE number = 4711');
      const { rows } = await (await fixture.open()).read((tables) => tables.accounts.list({ limit: 9 }));
      expect(rows).toHaveLength(1);
    });

    test.each([
      [
        'of another program',
        'CREATE TABLE invoices (id INTEGER)',
        /not a database of Croft.*invoices.*empty database/s,
      ],
      ['that only looks like ours', 'CREATE TABLE croft_migrations (number INTEGER)', /not a database of Croft/],
    ])('do not run in a database %s, which stays unchanged', async (_, sql, message) => {
      await using fixture = await prepare();
      await fixture.execute(sql);
      await expect(fixture.open()).rejects.toThrow(message);
      await expect(fixture.execute('CREATE TABLE accounts (mine INTEGER)')).resolves.toBeUndefined();
    });

    test('that fail in the middle change nothing', async () => {
      await using fixture = await prepare();
      // This view makes one of the last statements fail.
      await fixture.execute('CREATE VIEW audit AS SELECT 1 AS one');
      await expect(fixture.open()).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
      await expect(fixture.execute('SELECT * FROM accounts')).rejects.toThrow();
      await fixture.execute('DROP VIEW audit');
      await addAccount(await fixture.open());
    });
  });
}

/** The tables of migration 12. */
async function dropCluster({ execute }: RecordsFixture): Promise<void> {
  for (const table of ['reservations', 'servers', 'leases', 'runner_links', 'sandbox_counts'])
    await execute(`DROP TABLE ${table}`);
}

/** SQLite drops triggers alone; PostgreSQL drops them with their functions. */
async function dropCounts({ execute }: RecordsFixture): Promise<void> {
  const tables = ['accounts', 'api_keys', 'agents', 'sandboxes', 'workspaces', 'secrets'];
  const names = tables.flatMap((table) => ['insert', 'update', 'delete'].map((event) => `${table}_${event}`));
  for (const name of [...names, 'sessions_insert', 'sessions_update', 'sessions_delete'].map((each) => `croft_${each}`))
    await execute(`DROP TRIGGER ${name}`).catch(() => execute(`DROP FUNCTION ${name}() CASCADE`));
  await execute('DROP TABLE account_changes');
}
