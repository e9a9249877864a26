import type { Row } from './bench.ts';
import type { Summary } from './statistics.ts';

const header = ['what', 'against', 'ours p50/p95/p99', 'theirs p50/p95/p99', 'ratio', 'goal', 'met'];

export function renderTable(rows: readonly Row[]): string {
  const cells = [header, ...rows.map(toCells)];
  const widths = header.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  const lines = cells.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}

function toCells({ what, against, unit = 'ms', ours, theirs, ratio, goal, isMet, note }: Row): string[] {
  return [
    note === undefined ? what : `${what} (${note})`,
    against ?? '–',
    toFigures(ours, unit),
    toFigures(theirs, unit),
    ratio === undefined ? '–' : `${ratio.toPrecision(2)}×`,
    goal ?? '–',
    isMet === undefined ? '–' : isMet ? 'met' : 'MISSED',
  ];
}

function toFigures(summary: Summary | undefined, unit: string): string {
  if (!summary) return '–';
  const { p50, p95, p99, rounds } = summary;
  const figures = rounds === 1 ? [p50] : [p50, p95, p99];
  return `${figures.map(toText).join(' / ')} ${unit}`.trimEnd();
}

function toText(figure: number): string {
  if (Number.isInteger(figure)) return String(figure);
  return figure.toFixed(figure < 10 ? 2 : figure < 100 ? 1 : 0);
}
