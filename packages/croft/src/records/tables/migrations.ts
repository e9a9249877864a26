import { AppError } from '@croft/protocol';
import type { Database, SqlConnection } from '../sql/database.ts';
import { changeCountTables, sessionMoveCounts } from './account-change-counts.ts';
import { browserSessionTables } from './browser-sessions.ts';

import { callRecordFunction } from './calls/call-record-function.ts';
import { callsInOneTree, callTables } from './calls/calls-in-progress.ts';
import { clusterTables } from './cluster/cluster-tables.ts';
import { dataDirectoryTables } from './data-directories.ts';
import { firstTables } from './first-tables.ts';
import { keyAgents } from './keys.ts';
import { removalTables } from './removals.ts';
import { reservationTables } from './reservations.ts';
import { serverKeyCheckTables } from './server-key-checks.ts';

interface Migration {
  readonly name: string;
  statements(textType: string, database: Pick<Database, 'trigger' | 'oneStatement' | 'oneTurn'>): readonly string[];
}

/** In order, numbered from 1. Add new ones at the end; never change one. */
const migrations: readonly Migration[] = [
  { name: 'first tables', statements: firstTables },
  { name: 'removals from runners', statements: removalTables },
  { name: 'keys bound to agents', statements: keyAgents },
  { name: 'calls under way', statements: callTables },
  { name: 'checks of keys', statements: serverKeyCheckTables },
  { name: 'counts of changes', statements: changeCountTables },
  { name: 'counts of moved sessions', statements: sessionMoveCounts },
  { name: 'records of calls in one statement', statements: callRecordFunction },
  { name: 'browser sessions', statements: browserSessionTables },
  { name: 'data directories of workspaces', statements: dataDirectoryTables },
  { name: 'calls under way in one tree', statements: callsInOneTree },
  { name: 'servers of one database', statements: clusterTables },
  { name: 'persistent sandboxes', statements: reservationTables },
];

type RunChange = <T>(work: (connection: SqlConnection) => Promise<T>) => Promise<T>;

/**
 * Migrates the database, each step in a change of its own. The state is read within that change, so that if two servers
 * start at once, the second finds the step done.
 */
export async function migrate(database: Database, change: RunChange): Promise<void> {
  while (!(await change((connection) => runNextMigration(database, connection)))) {
    // Continue with the next step.
  }
}

/** Runs one migration. Returns whether all are done. */
async function runNextMigration(database: Database, connection: SqlConnection): Promise<boolean> {
  const done = await countDoneMigrations(database, connection);
  const migration = migrations[done];
  if (!migration) return true;
  const { textType: text } = database;
  if (done === 0) {
    await connection.query(
      `CREATE TABLE croft_migrations (number INTEGER PRIMARY KEY, name ${text} NOT NULL, at ${text} NOT NULL)`,
    );
  }
  for (const statement of migration.statements(text, database)) await connection.query(statement);
  const values = [done + 1, migration.name, new Date().toISOString()];
  await connection.query('INSERT INTO croft_migrations (number, name, at) VALUES (?, ?, ?)', values);
  return done + 1 === migrations.length;
}

/**
 * The number of completed migrations in a database that is ours or empty. Throws for any other database. Changes
 * nothing.
 */
export async function countDoneMigrations(database: Database, connection: SqlConnection): Promise<number> {
  const tables = (await connection.query(database.tableNames)).rows.map(({ name }) => String(name));
  if (tables.length === 0) return 0;
  if (!tables.includes('croft_migrations')) throw notOurs(tables);
  const [row] = (await connection.query('SELECT MAX(number) AS done FROM croft_migrations')).rows;
  const done = Number(row?.done ?? 0);
  if (done === 0) throw notOurs(tables);
  if (done > migrations.length) throw tooNew(done);
  return done;
}

function notOurs(tables: readonly string[]): AppError {
  return new AppError(
    'E_STORAGE_FAILED',
    `this is not a database of Croft: it has tables, as ${tables.slice(0, 3).join(', ')}, that Croft did not make. ` +
      'Nothing in it was changed. Name an empty database or a new file, or the one that Croft used before',
    { details: { tables: tables.slice(0, 3) } },
  );
}

function tooNew(done: number): AppError {
  return new AppError(
    'E_STORAGE_FAILED',
    `the database is at migration ${done}, and this version of Croft knows ${migrations.length}: a newer Croft has ` +
      'used it, and an older one would damage what it wrote. Start that newer Croft, or restore a backup from before ' +
      'it was started',
    { details: { found: done, known: migrations.length } },
  );
}
