import { AppError } from '@croft/protocol';
import type { Connection, Database } from './database.ts';
import { firstTables } from './first-tables.ts';
import { removalTables } from './removals.ts';

interface Migration {
  readonly name: string;
  statements(textType: string): readonly string[];
}

/** In order, numbered from 1. One is added at the end; none is ever changed. */
const migrations: readonly Migration[] = [
  { name: 'first tables', statements: firstTables },
  { name: 'removals from runners', statements: removalTables },
];

type Change = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>;

/**
 * Brings the database up to date, each step in a change of its own. What is there is looked at within that change, so
 * that of two servers that start at once the second finds the step done.
 */
export async function migrate(database: Database, change: Change): Promise<void> {
  while (!(await change((connection) => takeStep(database, connection)))) {
    // Another step is to be taken.
  }
}

/** Whether all are done. */
async function takeStep(database: Database, connection: Connection): Promise<boolean> {
  const done = await readDone(database, connection);
  const migration = migrations[done];
  if (!migration) return true;
  const { textType: text } = database;
  if (done === 0) {
    await connection.query(
      `CREATE TABLE croft_migrations (number INTEGER PRIMARY KEY, name ${text} NOT NULL, at ${text} NOT NULL)`,
    );
  }
  for (const statement of migration.statements(text)) await connection.query(statement);
  const values = [done + 1, migration.name, new Date().toISOString()];
  await connection.query('INSERT INTO croft_migrations (number, name, at) VALUES (?, ?, ?)', values);
  return done + 1 === migrations.length;
}

/** How many are done in a database that is ours or empty; throws of any other. Changes nothing. */
export async function readDone(database: Database, connection: Connection): Promise<number> {
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
