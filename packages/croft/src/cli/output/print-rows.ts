import type { Writable } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { stripControl } from '../../lib/text/strip-control.ts';

/** One column of a table: its title, and its text for a row. */
export type RecordColumns<Row> = Readonly<Record<string, (row: Row) => string | number | undefined>>;

/** The flags of every command that prints records. */
export const outputOptions = {
  json: { type: 'boolean', summary: 'print JSON, exactly as REST answers' },
  quiet: { type: 'boolean', short: 'q', summary: 'print only ids, a line each' },
} as const;

interface Output<Row> {
  readonly columns: RecordColumns<Row>;
  readonly idOf: (row: Row) => string;
  readonly rows: readonly Row[];
  /** The answer of REST. */
  readonly answer: object;
}

/** Prints a table on a terminal, and lines of tab-separated values into a pipe. */
export function printRows<Row>(
  { columns, idOf, rows, answer }: Output<Row>,
  { json = false, quiet = false }: { readonly json?: boolean; readonly quiet?: boolean },
  { stdout }: { readonly stdout: Writable },
): void {
  const cells = quiet ? rows.map((row) => [toCell(idOf(row))]) : rows.map((row) => toCells(columns, row));
  const isTable = !quiet && isTerminal(stdout);
  if (json) printJson(answer, stdout);
  else if (isTable && rows.length > 0) stdout.write(toTable(Object.keys(columns), cells));
  else stdout.write(cells.map((row) => `${row.join('\t')}\n`).join(''));
}

export function printJson(answer: object, stdout: Writable): void {
  stdout.write(`${JSON.stringify(answer)}\n`);
}

function isTerminal(stream: Writable): boolean {
  return (stream as Partial<WriteStream>).isTTY === true;
}

function toCells<Row>(columns: RecordColumns<Row>, row: Row): string[] {
  return Object.values(columns).map((of) => toCell(of(row)));
}

/** Text of a record, on one line and without anything that a terminal would obey. */
export function toCell(value: string | number | undefined): string {
  return stripControl(String(value ?? '')).replace(/[\t\n]+/g, ' ');
}

function toTable(titles: readonly string[], cells: readonly (readonly string[])[]): string {
  const all = [titles.map((title) => title.toUpperCase()), ...cells];
  const widths = titles.map((_, at) => Math.max(...all.map((row) => [...(row[at] ?? '')].length)));
  const toLine = (row: readonly string[]) =>
    `${row
      .map((text, at) => text + ' '.repeat((widths[at] ?? 0) - [...text].length))
      .join('  ')
      .trimEnd()}\n`;
  return all.map(toLine).join('');
}
