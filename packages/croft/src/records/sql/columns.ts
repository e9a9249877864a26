import { AppError } from '@croft/protocol';
import type { StoredRow, Value } from './database.ts';

/** How a field of a row is stored. */
export interface Column<Field> {
  readonly name: string;
  write(field: Field): Value;
  read(stored: unknown): Field;
}

export type Columns<Row> = { readonly [Field in keyof Row]-?: Column<Row[Field]> };

/** PostgreSQL limits an index entry to some 2700 bytes, and an entry may have three such texts. */
const maxKeyBytes = 512;

/** A text that rows are looked up by. */
export function key(name: string): Column<string> {
  return { name, write: (field) => checkKey(name, field), read: String };
}

export function text(name: string): Column<string> {
  return { name, write: (field) => field, read: String };
}

/** A column that holds one of a fixed set of words. */
export function word<Word extends string>(name: string): Column<Word> {
  return { name, write: (field) => field, read: (stored) => stored as Word };
}

export function optional(name: string): Column<string | undefined> {
  return {
    name,
    write: (field) => field ?? null,
    read: (stored) => (stored === null ? undefined : String(stored)),
  };
}

/** A whole number. PostgreSQL returns a BIGINT as text. */
export function wholeNumber(name: string): Column<number> {
  return { name, write: (field) => field, read: Number };
}

export function words(name: string): Column<readonly string[]> {
  return { name, write: (field) => JSON.stringify(field), read: (stored) => JSON.parse(String(stored)) };
}

export function optionalWords(name: string): Column<readonly string[] | undefined> {
  return {
    name,
    write: (field) => (field === undefined ? null : JSON.stringify(field)),
    read: (stored) => (stored === null ? undefined : JSON.parse(String(stored))),
  };
}

function checkKey(name: string, field: string): string {
  const bytes = Buffer.byteLength(field);
  if (bytes <= maxKeyBytes) return field;
  throw new AppError(
    'E_INVALID_INPUT',
    `${name} is ${bytes} bytes long, and records are looked up by it: use at most ${maxKeyBytes} bytes`,
    { details: { field: name, maxBytes: maxKeyBytes } },
  );
}

/** Defines a table and its columns. All generated SQL is composed of these names only. */
export function defineTable<Row extends object>(name: string, columns: Columns<Row>) {
  const fields = Object.entries(columns) as [string, Column<unknown>][];
  const names = fields.map(([, column]) => column.name);
  return {
    name,
    columns,
    list: names.join(', '),
    marks: names.map(() => '?').join(', '),
    /** Assignments for an UPDATE, without the columns of the WHERE clause. */
    assignments: (...foundBy: readonly (keyof Row)[]) =>
      fields
        .filter(([field]) => !foundBy.includes(field as keyof Row))
        .map(([, column]) => `${column.name} = ?`)
        .join(', '),
    toValues: (row: Row, ...leftOut: readonly (keyof Row)[]): Value[] =>
      fields
        .filter(([field]) => !leftOut.includes(field as keyof Row))
        .map(([field, column]) => column.write(row[field as keyof Row])),
    toRow(stored: StoredRow): Row {
      const read = fields.map(([field, column]) => [field, column.read(stored[column.name])] as const);
      return Object.fromEntries(read.filter(([, value]) => value !== undefined)) as Row;
    },
  };
}

export type Table<Row extends object> = ReturnType<typeof defineTable<Row>>;
