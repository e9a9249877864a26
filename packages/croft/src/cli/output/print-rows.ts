import type { Writable } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { stripControlSequences } from '../../lib/text/strip-control-sequences.ts';

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
  else if (isTable && rows.length > 0) stdout.write(toTable(Object.keys(columns), cells, widthOf(stdout)));
  else stdout.write(cells.map((row) => `${row.join('\t')}\n`).join(''));
}

export function printJson(answer: object, stdout: Writable): void {
  stdout.write(`${JSON.stringify(answer)}\n`);
}

/** Prints the fields of one record, a line each. */
export function printRecord(record: object, { stdout }: { readonly stdout: Writable }): void {
  const toText = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value));
  stdout.write(
    Object.entries(record)
      .map(([field, value]) => `${field}\t${toCell(toText(value))}\n`)
      .join(''),
  );
}

/** Whether a person reads this. */
export function isTerminal(stream: Writable): boolean {
  return (stream as Partial<WriteStream>).isTTY === true;
}

function toCells<Row>(columns: RecordColumns<Row>, row: Row): string[] {
  return Object.values(columns).map((of) => toCell(of(row)));
}

/** Text of a record, on one line and without anything that a terminal would obey. */
export function toCell(value: string | number | undefined): string {
  return stripControlSequences(String(value ?? '')).replace(/[\t\n]+/g, ' ');
}

/** The width of a terminal. One that does not say is as wide as it has to be. */
function widthOf(stream: Writable): number {
  return (stream as Partial<WriteStream>).columns || Number.POSITIVE_INFINITY;
}

/** A table or, where its lines would not fit, each row as a block of lines: nothing is cut off. */
function toTable(titles: readonly string[], cells: readonly (readonly string[])[], width: number): string {
  const all = [titles.map((title) => title.toUpperCase()), ...cells];
  const widths = titles.map((_, at) => Math.max(...all.map((row) => lengthOf(row[at]))));
  const needed = widths.reduce((sum, one) => sum + one, 0) + 2 * (widths.length - 1);
  if (needed > width) return toBlocks(titles, cells);
  return all
    .map(
      (row) =>
        `${row
          .map((text, at) => pad(text, widths[at]))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

function toBlocks(titles: readonly string[], cells: readonly (readonly string[])[]): string {
  const width = Math.max(...titles.map(lengthOf));
  const toBlock = (row: readonly string[]) =>
    titles.map((title, at) => `${pad(title.toUpperCase(), width)}  ${row[at] ?? ''}`.trimEnd()).join('\n');
  return `${cells.map(toBlock).join('\n\n')}\n`;
}

function lengthOf(text: string | undefined): number {
  return [...(text ?? '')].length;
}

function pad(text: string, width = 0): string {
  return text + ' '.repeat(Math.max(0, width - lengthOf(text)));
}
